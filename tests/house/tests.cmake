# The rules of the house, and lint. `ctest -L house`, `ctest -L lint`, or the target `lint`.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  foreach(check includes headers ownership banned sizes paths)
    add_test(NAME house/${check} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/house/house.py
      ${CMAKE_SOURCE_DIR} ${check} ${CMAKE_C_COMPILER})
    set_tests_properties(house/${check} PROPERTIES LABELS house TIMEOUT 120)
  endforeach()

  find_program(CLANG_FORMAT NAMES clang-format-14 clang-format)
  find_program(CLANG_TIDY NAMES clang-tidy-14 clang-tidy)
  set(LINT ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/house/lint.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  if(CLANG_FORMAT AND CLANG_TIDY)
    add_custom_target(lint COMMAND ${LINT} format ${CLANG_FORMAT} COMMAND ${LINT} tidy ${CLANG_TIDY} USES_TERMINAL)
    add_test(NAME lint/format COMMAND ${LINT} format ${CLANG_FORMAT})
    add_test(NAME lint/tidy COMMAND ${LINT} tidy ${CLANG_TIDY})
    set_tests_properties(lint/format lint/tidy PROPERTIES LABELS lint TIMEOUT 3600)
  endif()
endif()

# The tests that hold the most memory of their own, once more under valgrind. Sanitizers and valgrind exclude each other.
find_program(VALGRIND valgrind)
if(VALGRIND AND NOT MEMCAL_SANITIZE)
  foreach(name test_base test_redact test_store test_records test_talk test_manifests test_report)
    # The children of test_store leave by _exit(), with all that they hold; its leaks are the sanitizers' to find.
    set(leaks --leak-check=full --errors-for-leak-kinds=definite,indirect)
    if(name STREQUAL "test_store")
      set(leaks --leak-check=no)
    endif()
    add_test(NAME valgrind/${name} COMMAND ${VALGRIND} --quiet --error-exitcode=9 ${leaks} $<TARGET_FILE:${name}>)
    set_tests_properties(valgrind/${name} PROPERTIES LABELS valgrind TIMEOUT 900)
  endforeach()
endif()
