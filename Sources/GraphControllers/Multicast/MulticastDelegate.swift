/// A delegate that forwards each call to several observers.
///
/// - Observers are held weakly and removed when they are released.
/// - They are called in the order in which they were added; adding one twice has no effect.
/// - An observer can be added, removed or released during a call: a removed one is not called again, and an added one
///   is called from the next call on.
/// - The delegate that was set before comes first (`keeping:`).
///
/// Optional methods are typed. A method that some observers do not implement belongs to a protocol that refines the
/// delegate's; `notify` or `ask` with that protocol calls the observers that conform. Selectors and closures by name
/// were rejected, because the compiler can check neither their implementations nor their arguments.
///
/// Several observers can answer a question. Answers to *may I?* are combined with *and*: all observers must agree, so
/// an added observer can forbid something, but can't permit what another one forbids. *The last answer wins*, as in a
/// chain of forwarding delegates, was rejected because permissions would depend on the order of adding. If no observer
/// answers, the caller's default applies.
///
/// The class is not `Sendable`, because it belongs to the actor of its control.
open class MulticastDelegate<Observer> {
  private struct Entry {
    weak var observer: AnyObject?
  }

  private var entries = [Entry]()

  /// Creates a multicast delegate for a slot.
  /// - Parameter earlier: the previous delegate; it becomes the first observer, also held weakly.
  public init(keeping earlier: Observer? = nil) {
    if let earlier { add(earlier) }
  }

  /// Adds an observer after all others; one that was added before keeps its place.
  public func add(_ observer: Observer) {
    guard let object = Self.object(observer) else {
      preconditionFailure("an observer must be an object: \(type(of: observer)) is not")
    }
    entries.removeAll { $0.observer == nil }
    guard !entries.contains(where: { $0.observer === object }) else { return }
    entries.append(Entry(observer: object))
  }

  /// Removes an observer; ignores one that was not added.
  public func remove(_ observer: Observer) {
    let object = Self.object(observer)
    entries.removeAll { $0.observer == nil || $0.observer === object }
  }

  /// The living observers, in the order of adding.
  public var observers: [Observer] { entries.compactMap { $0.observer as? Observer } }

  /// Whether there are no observers.
  public var isEmpty: Bool { entries.allSatisfy { $0.observer == nil } }

  // MARK: - Calls

  /// Calls every observer.
  public func notify(_ call: (Observer) -> Void) { notify(Observer.self, call) }

  /// Calls the observers that conform to a protocol.
  /// - Parameter capability: a protocol that refines the observers' own, or any other.
  public func notify<Capability>(_ capability: Capability.Type, _ call: (Capability) -> Void) {
    for entry in entries {
      guard let observer = entry.observer, isAdded(observer), let able = observer as? Capability else { continue }
      call(able)
    }
  }

  /// Asks the observers that conform to a protocol; all of them, even after a refusal, because each may have side
  /// effects.
  /// - Parameter whenNobodyResponds: the answer if no observer conforms.
  /// - Returns: whether all of them agree.
  public func ask<Capability>(
    _ capability: Capability.Type, whenNobodyResponds: Bool, _ question: (Capability) -> Bool
  ) -> Bool {
    ask(capability, whenNobodyResponds: whenNobodyResponds, { $0 && $1 }, question)
  }

  /// Asks the observers that conform to a protocol and combines their answers in the order of adding.
  /// - Parameter whenNobodyResponds: the answer if no observer conforms; it is not combined with others.
  public func ask<Capability, Answer>(
    _ capability: Capability.Type, whenNobodyResponds: Answer, _ combine: (Answer, Answer) -> Answer,
    _ question: (Capability) -> Answer
  ) -> Answer {
    var answer: Answer?
    notify(capability) { able in
      let next = question(able)
      answer = answer.map { combine($0, next) } ?? next
    }
    return answer ?? whenNobodyResponds
  }

  /// Whether the observer is still added; it may have been removed during the current call.
  private func isAdded(_ object: AnyObject) -> Bool { entries.contains { $0.observer === object } }

  /// Nil for a value type: each cast boxes it again, and the box would be released at once.
  private static func object(_ observer: Observer) -> AnyObject? {
    type(of: observer as Any) is AnyClass ? observer as AnyObject : nil
  }
}

/// A delegate slot that creates its multicast delegate on first use.
///
/// The control accesses its delegate only through the slot. With a single observer the delegate is called directly.
public struct DelegateSlot<Observer, Several: MulticastDelegate<Observer>> {
  private weak var single: AnyObject?
  private var multicast: Several?
  private let make: (Observer?) -> Several

  /// Creates an empty slot.
  /// - Parameter make: creates the multicast delegate with a first observer; a subclass that conforms to `Observer`.
  public init(make: @escaping (Observer?) -> Several) { self.make = make }

  /// The delegate that was set, or the multicast delegate. Setting it removes all observers.
  public var delegate: Observer? {
    get { multicast as? Observer ?? single as? Observer }
    set {
      multicast = nil
      single = newValue.map { $0 as AnyObject }
    }
  }

  /// The multicast delegate, created on first access with the current delegate as its first observer.
  public var several: Several {
    mutating get {
      if let multicast { return multicast }
      let made = make(single as? Observer)
      multicast = made
      return made
    }
  }
}
