# The library as an imported target; the folder of the package is three above this file.
get_filename_component(DNNL_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET DNNL::dnnl)
  add_library(DNNL::dnnl SHARED IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES
    IMPORTED_LOCATION "${DNNL_PREFIX}/lib/libdnnl.so.@MAJOR@.@MINOR@"
    IMPORTED_SONAME "libdnnl.so.@MAJOR@"
    INTERFACE_INCLUDE_DIRECTORIES "${DNNL_PREFIX}/include")
endif()
