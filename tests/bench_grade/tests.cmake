# Speed of grading: 100,000 answers on one core. A smaller number where the build is sanitized, which only has to run.
add_executable(bench_grade ${CMAKE_CURRENT_LIST_DIR}/grade.c)
target_link_libraries(bench_grade PRIVATE memcal_core)
if(MEMCAL_SANITIZE OR MEMCAL_FUZZ)
  add_test(NAME bench/grade COMMAND bench_grade 2000)
else()
  add_test(NAME bench/grade COMMAND bench_grade 100000)
endif()
set_tests_properties(bench/grade PROPERTIES LABELS bench TIMEOUT 300)
