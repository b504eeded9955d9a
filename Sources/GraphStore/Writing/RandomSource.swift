// Tests: OpeningTests.swift, CommitTests.swift
import Foundation
import Synchronization

/// The system's random numbers, fetched 32 at a time.
///
/// A system call for each new id would be a few percent of the cost of a large commit.
final class RandomSource: Sendable {
  private static let count = 32
  private let unused = Mutex([UInt64]())

  func next() -> UInt64 {
    unused.withLock { unused in
      if let number = unused.popLast() { return number }
      var fresh = [UInt64](repeating: 0, count: Self.count)
      let isFilled = fresh.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
      guard isFilled else { return .random(in: .min ... .max) }
      unused = fresh
      return unused.removeLast()
    }
  }
}
