# find_package(dnnl) gives the target DNNL::dnnl, and these variables about the build.
set(DNNL_CPU_THREADING_RUNTIME "OMP")
set(DNNL_CPU_RUNTIME "OMP")
set(DNNL_GPU_RUNTIME "NONE")
set(ONEDNN_BUILD_GRAPH ON)

include("${CMAKE_CURRENT_LIST_DIR}/dnnl-targets.cmake")

set(DNNL_INCLUDE_DIR "${DNNL_PREFIX}/include")
set(DNNL_LIBRARIES DNNL::dnnl)
foreach(component IN LISTS dnnl_FIND_COMPONENTS)
  if(NOT component MATCHES "^(CPU|OMP|GRAPH|CPU_OMP)$")
    set(dnnl_FOUND FALSE)
    set(dnnl_NOT_FOUND_MESSAGE "this build has CPU, OMP and GRAPH; ${component} was asked for")
  endif()
endforeach()
