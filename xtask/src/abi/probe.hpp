// Prints what a compiler makes of headers: functions with their types, enumerators, constants, records. The lines that call these
// functions are generated.
#include <cstddef>
#include <cstdio>
#include <cxxabi.h>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "declarations.hpp"

// The type as written, without the constness of values.
template <typename T>
std::string written() {
    int status = 0;
    char *text = abi::__cxa_demangle(typeid(T *).name(), nullptr, nullptr, &status);
    std::string name = status == 0 ? std::string(text) : std::string("?");
    std::free(text);
    if (!name.empty() && name.back() == '*') name.pop_back();
    return name;
}

// How a value of the type is passed: p for an address, i or u and bits for integers, f and bits, v for none.
template <typename T>
std::string passed() {
    if (std::is_void<T>::value) return "v";
    if (std::is_pointer<T>::value) return "p";
    char kind = 's';
    if (std::is_floating_point<T>::value) kind = 'f';
    else if (std::is_enum<T>::value) kind = 'i';
    else if (std::is_same<T, bool>::value) kind = 'b';
    else if (std::is_integral<T>::value) kind = std::is_signed<T>::value ? 'i' : 'u';
    return kind + std::to_string(8 * sizeof(std::conditional_t<std::is_void<T>::value, char, T>));
}

// What lies at an address, where values do.
template <typename T>
std::string pointed() {
    using At = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (!std::is_pointer<T>::value || std::is_void<At>::value || std::is_function<At>::value) return "";
    else if constexpr (std::is_scalar<At>::value) return passed<At>();
    else return "s";
}

template <typename T>
void type() {
    std::printf("\t%s|%s|%s", passed<T>().c_str(), pointed<T>().c_str(), written<T>().c_str());
}

template <typename R, typename... A>
void function(const char *name, R (*)(A...)) {
    std::printf("function\t%s", name);
    type<R>();
    (type<A>(), ...);
    std::printf("\n");
}

#define FUNCTION(name) function(#name, static_cast<decltype(&name)>(nullptr));
#define ENUMERATOR(kind, name) std::printf("enumerator\t%s\t%s\t%lld\n", #kind, #name, static_cast<long long>(name));
#define CONSTANT(text, value) std::printf("constant\t%s\t%lld\n", text, static_cast<long long>(value));
#define SIZE(record) std::printf("size\t%s\t%zu\n", #record, sizeof(record));
#define OFFSET(record, field) std::printf("offset\t%s\t%s\t%zu\n", #record, #field, offsetof(record, field));
