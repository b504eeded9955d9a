// Tests: SendingQueueTests.swift
import GraphModel

/// Decides which edits a replica sends next, without I/O: it receives events and returns actions.
///
/// Intents leave in the order of their numbers, several at a time, each after the file has it as sent: many are marked
/// with one sync, also those that wait. One that names an object which an earlier one inserts, or a text which an
/// earlier one edits, waits for the earlier one's answer. A
/// refused intent is parked: it holds up only those that name an object which it would have made. An answer that was
/// lost is asked for again, under the same id.
package struct SendingQueue: Sendable {
  /// The facts about an intent that decide when it leaves.
  package struct Item: Sendable, Equatable {
    package var number: Int64
    /// The intents that insert objects which this one names.
    package var prerequisites: Set<Int64>
    /// Whether its splices refer to a text that an earlier intent edits.
    package var followsText: Bool
    /// Whether it may have reached the server.
    package var hasLeft: Bool

    package init(number: Int64, prerequisites: Set<Int64> = [], followsText: Bool = false, hasLeft: Bool = false) {
      (self.number, self.prerequisites) = (number, prerequisites)
      (self.followsText, self.hasLeft) = (followsText, hasLeft)
    }

    package init(_ intent: Intent) {
      self.init(
        number: intent.number, prerequisites: intent.prerequisites, followsText: !intent.texts.isEmpty,
        hasLeft: intent.hasLeft)
    }
  }

  package enum Event: Sendable {
    /// The user has made edits, or has queued parked ones again.
    case queued([Item])
    case connected
    case disconnected
    /// The file has these intents as sent. The user has discarded the others that were to be marked.
    case marked([Int64])
    /// The server has committed an intent, and the file no longer has it.
    case committed(Int64)
    /// The server has refused an intent.
    case refused(Int64, Refusal)
  }

  package enum Action: Sendable, Equatable {
    /// Make durable that these intents are sent, and report `.marked`.
    case markLeft([Int64])
    /// Send these intents, in order.
    case send([Int64])
    /// Make durable that the intent, and those that name its objects, wait for the user.
    case park(Int64, Refusal)
    /// The server can't answer now: try again later, on a new connection.
    case pause(Refusal)
  }

  /// The most intents that are sent and not answered.
  package static let maximumInFlight = 256
  /// New ones are marked when at most so many marked ones are not answered, so that one sync of the file marks many.
  private static let fewMarked = maximumInFlight / 2

  /// In the order of their numbers.
  private var waiting = [Item]()
  /// Those of them that are being marked.
  private var marking = Set<Int64>()
  /// Those that were sent on this connection.
  private var inFlight = [Item]()
  private var isConnected = false

  package init() {}

  /// The number of intents that wait to be sent. A caller with a long queue adds some at a time.
  package var countOfWaiting: Int { waiting.count }

  /// Whether nothing waits for an answer.
  package var isEmpty: Bool { waiting.isEmpty && inFlight.isEmpty }

  /// Handles one event and returns the resulting actions, in order.
  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .queued(let items):
      let known = Set((waiting + inFlight).map(\.number))
      insert(items.filter { !known.contains($0.number) })
    case .connected:
      precondition(inFlight.isEmpty, "an intent is in flight on one connection only")
      isConnected = true
    case .disconnected: disconnect()
    case .marked(let numbers): mark(Set(numbers))
    case .committed(let number): inFlight.removeAll { $0.number == number }
    case .refused(let number, let refusal): return refuse(number, refusal) + next()
    }
    return next()
  }

  private mutating func insert(_ items: [Item]) { waiting = (waiting + items).sorted { $0.number < $1.number } }

  /// The answers to the intents in flight are lost, so these are sent again.
  private mutating func disconnect() {
    isConnected = false
    // The file will have those as sent that are being marked; sending an unmarked one is not possible.
    let sent = inFlight.map { item in
      var item = item
      item.hasLeft = true
      return item
    }
    inFlight = []
    insert(sent)
  }

  /// Removes those that were to be marked and are not: the user has discarded them.
  private mutating func mark(_ numbers: Set<Int64>) {
    waiting.removeAll { marking.contains($0.number) && !numbers.contains($0.number) }
    for index in waiting.indices where numbers.contains(waiting[index].number) { waiting[index].hasLeft = true }
    marking = []
  }

  private mutating func refuse(_ number: Int64, _ refusal: Refusal) -> [Action] {
    guard inFlight.contains(where: { $0.number == number }) else { return [] }
    if refusal.isTemporary {
      disconnect()
      return [.pause(refusal)]
    }
    inFlight.removeAll { $0.number == number }
    var parked: Set<Int64> = [number]
    waiting.removeAll { item in
      guard !item.prerequisites.isDisjoint(with: parked) else { return false }
      parked.insert(item.number)
      return true
    }
    return [.park(number, refusal)]
  }

  /// Sends the intents that can leave now, and marks the next ones.
  private mutating func next() -> [Action] {
    guard isConnected, marking.isEmpty else { return [] }
    var actions = [Action]()
    let ready = takeReady()
    if !ready.isEmpty {
      inFlight += ready
      actions.append(.send(ready.map(\.number)))
    }
    let marked = inFlight.count + waiting.count { $0.hasLeft }
    if marked <= Self.fewMarked {
      let new = waiting.lazy.filter { !$0.hasLeft }.prefix(Self.maximumInFlight - marked).map(\.number)
      marking = Set(new)
      if !marking.isEmpty { actions.append(.markLeft(Array(new))) }
    }
    assert(inFlight.count <= Self.maximumInFlight, "the number of unanswered intents is bounded")
    return actions
  }

  /// Removes the intents that can leave: one that must wait, or is not marked, is not overtaken.
  private mutating func takeReady() -> [Item] {
    // Most answers make nothing ready.
    guard waiting.first?.hasLeft == true else { return [] }
    var open = Set(inFlight.map(\.number))
    let ready = waiting.prefix { item in
      let waits = item.followsText ? !open.isEmpty : !item.prerequisites.isDisjoint(with: open)
      guard item.hasLeft, !waits, open.count < Self.maximumInFlight else { return false }
      open.insert(item.number)
      return true
    }
    waiting.removeFirst(ready.count)
    return Array(ready)
  }
}

extension Refusal {
  /// Whether the refusal is about the server's state, not about the edit.
  package var isTemporary: Bool {
    isOutcomeUnknown || [.unavailable, .cancelled].contains(code)
  }
}
