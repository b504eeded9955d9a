import TerminalCells

/// The queued events, in order of their arrival.
///
/// The capacity limits the number of keys, mouse events, pastes, focus changes and answers. The queue holds at most one
/// resize, one change of deltas, one of the connection, and one event of each timer and signal, so these are always
/// accepted. If only the newest state of an event matters, the event is merged with a queued one: a resize or deltas
/// with the queued one, a mouse move with the last event if that is the same kind of move. A move thus never overtakes
/// a key or a click.
public struct EventQueue: Sendable {
  /// The maximum number of input events.
  public let capacity: Int
  private var events = [ApplicationEvent]()
  private var boundedCount = 0

  /// Creates an empty queue.
  public init(capacity: Int = 1_024) { self.capacity = max(1, capacity) }

  /// The number of queued events.
  public var count: Int { events.count }

  /// Returns the number of queued events of a kind.
  public func count(of mask: EventMask) -> Int { events.count { mask.contains($0.mask) } }

  /// Whether the queue accepts no further key; the driver then stops reading, and the terminal waits.
  public var isFull: Bool { boundedCount >= capacity }

  /// Appends an event.
  /// - Returns: false if the queue is full and the event was not added. To make space it drops the oldest mouse move.
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

  /// Returns the first event of a kind.
  /// - Parameter dequeue: whether to remove it from the queue.
  public mutating func next(_ mask: EventMask = .any, dequeue: Bool = true) -> ApplicationEvent? {
    guard let index = events.firstIndex(where: { mask.contains($0.mask) }) else { return nil }
    return dequeue ? removeEvent(at: index) : events[index]
  }

  /// Removes and returns the characters and line breaks at the front: keys typed ahead, or text pasted into a
  /// terminal without bracketed paste.
  /// - Parameter least: the minimum number of characters; fewer stay queued.
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

  /// Removes all events of a kind, such as keys typed before a question appeared.
  public mutating func discard(_ mask: EventMask) {
    events.removeAll { mask.contains($0.mask) }
    boundedCount = events.count { Self.isBounded($0) }
  }

  private mutating func removeEvent(at index: Int) -> ApplicationEvent {
    let event = events.remove(at: index)
    if Self.isBounded(event) { boundedCount -= 1 }
    return event
  }

  private mutating func dropMove() -> Bool {
    guard let index = events.firstIndex(where: { Self.isMove($0) }) else { return false }
    _ = removeEvent(at: index)
    return true
  }

  /// Returns whether the event was merged into a queued one.
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
