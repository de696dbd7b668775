# Measured on the program as users get it: a sanitized build has no benchmarks.
if(MEMCAL_SANITIZE)
  message(STATUS "No benchmarks: this build is sanitized")
  return()
endif()

add_executable(bench_overhead bench/overhead.c bench/record.c bench/replay.c bench/bench.c)
target_include_directories(bench_overhead PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(bench_overhead PRIVATE memcal_core)
target_compile_definitions(bench_overhead PRIVATE MEMCAL_PROGRAM="$<TARGET_FILE:memcal>"
  BENCH_RUNFILE="${CMAKE_CURRENT_SOURCE_DIR}/bench/data/runs/overhead.yaml")
add_dependencies(bench_overhead memcal)
add_test(NAME bench/overhead COMMAND bench_overhead)
set_tests_properties(bench/overhead PROPERTIES LABELS bench TIMEOUT 180 RUN_SERIAL ON)
