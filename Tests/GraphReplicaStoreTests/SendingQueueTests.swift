import GraphModel
import GraphReplicaStore
import Testing

/// Transcripts of the queue: one event, and what it causes.
@Suite struct SendingQueueTests {
  private typealias Item = SendingQueue.Item

  private let conflict = Refusal(.conflict, "others have changed it")

  @Test func intentsLeaveInOrderAfterTheyAreMarked() {
    var queue = SendingQueue()
    #expect(queue.handle(.queued([Item(number: 2), Item(number: 1)])).isEmpty)
    #expect(queue.handle(.connected) == [.markLeft([1, 2])])
    #expect(queue.handle(.marked([1, 2])) == [.send([1, 2])])
    #expect(queue.handle(.committed(1)).isEmpty)
    #expect(!queue.isEmpty)
    #expect(queue.handle(.committed(2)).isEmpty)
    #expect(queue.isEmpty)
  }

  @Test func refusedIntentIsParkedAndLaterOnesContinue() {
    var queue = SendingQueue()
    _ = queue.handle(.connected)
    #expect(
      queue.handle(.queued([Item(number: 1), Item(number: 2), Item(number: 3, prerequisites: [1])]))
        == [.markLeft([1, 2, 3])])
    #expect(queue.handle(.marked([1, 2, 3])) == [.send([1, 2])])
    #expect(queue.handle(.refused(1, conflict)) == [.park(1, conflict)])
    #expect(queue.handle(.committed(2)).isEmpty)
    // The third names an object that the first would have made.
    #expect(queue.isEmpty)
  }

  @Test func intentOfANewObjectWaitsForTheObject() {
    var queue = SendingQueue()
    _ = queue.handle(.connected)
    #expect(
      queue.handle(.queued([Item(number: 1), Item(number: 2, prerequisites: [1])])) == [.markLeft([1, 2])])
    // Both are marked with one sync; the second one waits for the answer.
    #expect(queue.handle(.marked([1, 2])) == [.send([1])])
    #expect(queue.handle(.committed(1)) == [.send([2])])
  }

  @Test func intentOfATextWaitsForEverythingBeforeIt() {
    var queue = SendingQueue()
    _ = queue.handle(.connected)
    let items = [Item(number: 1), Item(number: 2), Item(number: 3, followsText: true)]
    #expect(queue.handle(.queued(items)) == [.markLeft([1, 2, 3])])
    #expect(queue.handle(.marked([1, 2, 3])) == [.send([1, 2])])
    #expect(queue.handle(.committed(1)).isEmpty)
    #expect(queue.handle(.committed(2)) == [.send([3])])
  }

  @Test func lostAnswersAreAskedForUnderTheSameIDs() {
    var queue = SendingQueue()
    _ = queue.handle(.connected)
    _ = queue.handle(.queued([Item(number: 1), Item(number: 2)]))
    #expect(queue.handle(.marked([1, 2])) == [.send([1, 2])])
    #expect(queue.handle(.disconnected).isEmpty)
    // They are marked already, so they leave at once.
    #expect(queue.handle(.connected) == [.send([1, 2])])
  }

  @Test func intentsThatLeftBeforeTheProgramEndedGoFirst() {
    var queue = SendingQueue()
    _ = queue.handle(.queued([Item(number: 1, hasLeft: true), Item(number: 2)]))
    #expect(queue.handle(.connected) == [.send([1]), .markLeft([2])])
    #expect(queue.handle(.marked([2])) == [.send([2])])
  }

  @Test func oneThatWasRetriedGoesBeforeLaterOnesThatHaveLeft() {
    var queue = SendingQueue()
    _ = queue.handle(.queued([Item(number: 3), Item(number: 7, hasLeft: true)]))
    #expect(queue.handle(.connected) == [.markLeft([3])])
    #expect(queue.handle(.marked([3])) == [.send([3, 7])])
  }

  @Test func nothingIsSentThatIsNotMarked() {
    var queue = SendingQueue()
    _ = queue.handle(.queued([Item(number: 1)]))
    #expect(queue.handle(.connected) == [.markLeft([1])])
    #expect(queue.handle(.disconnected).isEmpty)
    #expect(queue.handle(.marked([1])).isEmpty)
    #expect(queue.handle(.connected) == [.send([1])])
  }

  @Test func intentThatTheUserDiscardedIsNotSent() {
    var queue = SendingQueue()
    _ = queue.handle(.queued([Item(number: 1), Item(number: 2)]))
    #expect(queue.handle(.connected) == [.markLeft([1, 2])])
    #expect(queue.handle(.marked([2])) == [.send([2])])
    #expect(queue.handle(.committed(2)).isEmpty)
    #expect(queue.isEmpty)
  }

  @Test func serverThatCannotAnswerPausesAndParksNothing() {
    var queue = SendingQueue()
    _ = queue.handle(.connected)
    _ = queue.handle(.queued([Item(number: 1)]))
    _ = queue.handle(.marked([1]))
    let full = Refusal(.unavailable, "the store is full")
    #expect(queue.handle(.refused(1, full)) == [.pause(full)])
    #expect(queue.handle(.connected) == [.send([1])])
  }

  @Test func numberInFlightIsBounded() {
    var queue = SendingQueue()
    _ = queue.handle(.connected)
    let most = Int64(SendingQueue.maximumInFlight)
    let items = (1...(most + 10)).map { Item(number: $0) }
    #expect(queue.handle(.queued(items)) == [.markLeft(Array(1...most))])
    #expect(queue.handle(.marked(Array(1...most))) == [.send(Array(1...most))])
    // One sync of the file marks many, so the next ones wait until half of these are answered.
    for number in 1..<(most / 2) { #expect(queue.handle(.committed(number)).isEmpty) }
    #expect(queue.handle(.committed(most / 2)) == [.markLeft(Array((most + 1)...(most + 10)))])
  }

  @Test func laterIntentsOfALongQueueAreAddedWhileEarlierOnesAreInFlight() {
    var queue = SendingQueue()
    _ = queue.handle(.connected)
    #expect(queue.handle(.queued([Item(number: 1)])) == [.markLeft([1])])
    #expect(queue.handle(.marked([1])) == [.send([1])])
    #expect(queue.handle(.queued([Item(number: 1), Item(number: 2)])) == [.markLeft([2])])
    #expect(queue.countOfWaiting == 1)
    #expect(queue.handle(.marked([2])) == [.send([2])])
    #expect(queue.handle(.committed(1)).isEmpty && queue.handle(.committed(2)).isEmpty)
    #expect(queue.isEmpty)
  }
}
