import TerminalCells

/// The events that wait, in the order in which they happened.
///
/// It never holds more than its capacity of keys, mouse events, pastes and the like; of resizes, deltas, the
/// connection and each timer and signal it holds one, which is why those are always taken. What is only worth its newest state is merged: a resize with
/// the one that waits, deltas with those that wait, a mouse move with the event before it when that is the same kind of
/// move, so that no key or click is overtaken.
public struct EventQueue: Sendable {
  /// How many events of people and terminal it holds.
  public let capacity: Int
  private var events = [ApplicationEvent]()
  private var boundedCount = 0

  /// An empty queue.
  public init(capacity: Int = 1_024) { self.capacity = max(1, capacity) }

  /// How many events wait.
  public var count: Int { events.count }

  /// How many events of a kind wait.
  public func count(of mask: EventMask) -> Int { events.count { mask.contains($0.mask) } }

  /// Whether it takes no further key; the driver reads no more bytes then, and the terminal waits.
  public var isFull: Bool { boundedCount >= capacity }

  /// Puts an event at the end.
  /// - Returns: false when it is full and the event is not taken. To make room for a key it lets go of the oldest
  ///   mouse move.
  @discardableResult
  public mutating func post(_ event: ApplicationEvent) -> Bool {
    if merge(event) { return true }
    if Self.isBounded(event) {
      if isFull, !dropMove() { return false }
      boundedCount += 1
    }
    events.append(event)
    return true
  }

  /// The first event of a kind.
  /// - Parameter dequeue: whether it leaves the queue.
  public mutating func next(_ mask: EventMask = .any, dequeue: Bool = true) -> ApplicationEvent? {
    guard let index = events.firstIndex(where: { mask.contains($0.mask) }) else { return nil }
    return dequeue ? take(index) : events[index]
  }

  /// Letters and line breaks that wait before everything else, taken out: what was typed ahead, or pasted into a terminal
  /// that does not say so.
  /// - Parameter least: fewer are left where they are.
  public mutating func takeTyped(atLeast least: Int) -> String {
    var text = ""
    var count = 0
    for event in events {
      guard case .key(let key) = event.kind, let typed = key.typed else { break }
      text += typed
      count += 1
    }
    guard count >= least else { return "" }
    events.removeFirst(count)
    boundedCount -= count
    return text
  }

  /// Throws away the events of a kind, such as what was typed ahead of a question.
  public mutating func discard(_ mask: EventMask) {
    events.removeAll { mask.contains($0.mask) }
    boundedCount = events.count { Self.isBounded($0) }
  }

  private mutating func take(_ index: Int) -> ApplicationEvent {
    let event = events.remove(at: index)
    if Self.isBounded(event) { boundedCount -= 1 }
    return event
  }

  private mutating func dropMove() -> Bool {
    guard let index = events.firstIndex(where: { Self.isMove($0) }) else { return false }
    _ = take(index)
    return true
  }

  /// Whether it became a part of an event that waits.
  private mutating func merge(_ event: ApplicationEvent) -> Bool {
    switch event.kind {
    case .resize: return replace(event) { if case .resize = $0 { true } else { false } }
    case .deltas(let numbers):
      for index in events.indices {
        guard case .deltas(let waiting) = events[index].kind else { continue }
        events[index].kind = .deltas(waiting.union(numbers))
        return true
      }
      return false
    case .timer, .signal, .connection: return events.contains { $0.kind == event.kind }
    case .mouse(let mouse):
      guard let last = events.last, case .mouse(let waiting) = last.kind, Self.isMove(event),
        waiting.kind == mouse.kind, waiting.modifiers == mouse.modifiers
      else { return false }
      events[events.count - 1] = event
      return true
    default: return false
    }
  }

  private mutating func replace(_ event: ApplicationEvent, _ fits: (ApplicationEvent.Kind) -> Bool) -> Bool {
    guard let index = events.firstIndex(where: { fits($0.kind) }) else { return false }
    events[index] = event
    return true
  }

  private static func isBounded(_ event: ApplicationEvent) -> Bool {
    switch event.kind {
    case .key, .mouse, .paste, .focus, .answer: true
    case .resize, .timer, .signal, .deltas, .connection: false
    }
  }

  private static func isMove(_ event: ApplicationEvent) -> Bool {
    guard case .mouse(let mouse) = event.kind else { return false }
    switch mouse.kind {
    case .move, .drag: return true
    case .press, .release, .wheel: return false
    }
  }
}
