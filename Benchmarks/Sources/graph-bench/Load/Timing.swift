import Foundation

/// Returns the seconds of a monotonic clock.
func now() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

/// Returns the value that 99 of a hundred do not exceed.
func percentile99(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  return sorted.isEmpty ? .nan : sorted[sorted.count * 99 / 100]
}

func timed(_ body: () throws -> Void) rethrows -> Double {
  let start = now()
  try body()
  return now() - start
}

/// Runs each body repeatedly on a thread of its own and returns their rate per second.
func rate(for seconds: Double, _ bodies: [() throws -> Void]) -> Double {
  rates(for: seconds, bodies).reduce(0, +)
}

/// Runs each body repeatedly on a thread of its own and returns the rate per second of each. First they run uncounted
/// for a third of the time, because the first commits extend a log that later ones overwrite.
func rates(for seconds: Double, _ bodies: [() throws -> Void]) -> [Double] {
  _ = run(for: max(0.3, seconds / 3), bodies)
  return run(for: seconds, bodies)
}

private func run(for seconds: Double, _ bodies: [() throws -> Void]) -> [Double] {
  let start = now()
  let end = start + seconds
  let counts = UnsafeMutableBufferPointer<Int>.allocate(capacity: bodies.count)
  counts.initialize(repeating: 0)
  defer { counts.deallocate() }
  // Each thread uses its own body and index, and all threads end before this function returns.
  nonisolated(unsafe) let places = counts
  nonisolated(unsafe) let work = bodies
  let group = DispatchGroup()
  for number in bodies.indices {
    group.enter()
    Thread.detachNewThread {
      var count = 0
      while now() < end {
        do { try work[number]() } catch {
          print("failed: \(error)")
          exit(1)
        }
        count += 1
      }
      places[number] = count
      group.leave()
    }
  }
  group.wait()
  let elapsed = now() - start
  return counts.map { Double($0) / elapsed }
}
