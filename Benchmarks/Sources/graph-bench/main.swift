try runBenchmarks()
