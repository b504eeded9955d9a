import Foundation
import Synchronization
import Testing

@testable import GraphServer

/// A thread's mailbox loses no change and wakes the thread only if it waits.
@Suite struct ThreadMailboxTests {
  @Test func changesWakeWaitingThreadOnce() {
    let mailbox = ThreadMailbox([Int]())
    func next() -> Int? { mailbox.take { $0.isEmpty ? nil : $0.removeFirst() } }
    let noTime = DispatchTimeInterval.nanoseconds(0)

    mailbox.change { $0.append(1) }
    #expect(!mailbox.wait(atMost: noTime), "no thread waits yet")
    #expect(next() == 1)
    mailbox.change { $0.append(2) }
    #expect(!mailbox.wait(atMost: noTime), "a busy thread is not woken")
    #expect(next() == 2)
    #expect(next() == nil)

    let count = mailbox.change { numbers in
      numbers.append(3)
      return numbers.count
    }
    #expect(count == 1)
    mailbox.change { $0.append(4) }
    #expect(mailbox.wait(atMost: .seconds(60)))
    #expect(!mailbox.wait(atMost: noTime), "the second change wakes no thread")
    #expect([next(), next(), next()] == [3, 4, nil])
  }

  @Test func everyChangeIsTakenInItsOrder() throws {
    struct Contents: Sendable {
      var numbers = [Int]()
      var isStopping = false
    }
    enum Item: Sendable {
      case numbers([Int])
      case end
    }
    let (producers, count) = (4, 5_000)
    let mailbox = ThreadMailbox(Contents())
    let taken = Mutex([Int]())
    let hasEnded = DispatchSemaphore(value: 0)
    try ServerThread.start("mailbox") {
      while true {
        let item = mailbox.take { contents -> Item? in
          guard !contents.numbers.isEmpty else { return contents.isStopping ? .end : nil }
          defer { contents.numbers = [] }
          return .numbers(contents.numbers)
        }
        switch item {
        case .numbers(let numbers): taken.withLock { $0 += numbers }
        case .end:
          hasEnded.signal()
          return
        case nil: mailbox.wait()
        }
      }
    }
    DispatchQueue.concurrentPerform(iterations: producers) { producer in
      for number in 0..<count { mailbox.change { $0.numbers.append(producer * count + number) } }
    }
    mailbox.change { $0.isStopping = true }
    try #require(hasEnded.wait(timeout: .now() + 60) == .success)
    let numbers = taken.withLock { $0 }
    for producer in 0..<producers {
      let own = numbers.filter { $0 / count == producer }
      #expect(own == Array(producer * count..<(producer + 1) * count))
    }
    #expect(numbers.count == producers * count)
  }
}
