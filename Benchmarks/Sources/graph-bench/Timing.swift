import Foundation

func now() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// How often a second the bodies run, over `threads` threads for so many seconds.
func rate(for seconds: Double, threads: Int, _ make: (Int) throws -> (() throws -> Void)) rethrows -> Double {
  let bodies = try (0..<threads).map(make)
  nonisolated(unsafe) var counts = [Int](repeating: 0, count: threads)  // Each thread has a place of its own.
  let start = now()
  let end = start + seconds
  counts.withUnsafeMutableBufferPointer { buffer in
    nonisolated(unsafe) let buffer = buffer
    nonisolated(unsafe) let bodies = bodies
    let group = DispatchGroup()
    for number in 0..<threads {
      group.enter()
      Thread.detachNewThread {
        while now() < end {
          do { try bodies[number]() } catch {
            print("failed: \(error)")
            exit(1)
          }
          buffer[number] += 1
        }
        group.leave()
      }
    }
    group.wait()
  }
  return Double(counts.reduce(0, +)) / (now() - start)
}
