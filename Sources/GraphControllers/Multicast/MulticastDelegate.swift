/// Several observers behind one delegate slot: an object that is the delegate and passes each call on.
///
/// - Observers are held weakly: one that is released is gone.
/// - They are called in the order in which they were added; adding one twice is adding it once.
/// - One may leave, come or be released during a call: one that left is not called any more, one that came is called from
///   the next call on.
/// - The delegate that was in the slot before comes first (`keeping:`).
///
/// Who *responds* is Swift-typed: a method that not every observer has is a protocol of its own, which refines the delegate's,
/// and `tell` or `ask` by that protocol calls those that conform. Selectors and closures by name were rejected: the compiler
/// knows neither who has which nor what it takes.
///
/// A question has the answers of several observers. Answers to *may I?* combine with *and*: everyone must agree, so that an
/// observer that joins can forbid and never overrule. *The last one wins*, as a chain of forwarding delegates has it, was
/// rejected: what is allowed would hang on the order of adding. A question that nobody answers has the default that the
/// caller names.
///
/// It is not `Sendable`: it belongs to the actor of its control.
open class MulticastDelegate<Observer> {
  private struct Entry {
    weak var observer: AnyObject?
  }

  private var entries = [Entry]()

  /// A slot's multicast delegate.
  /// - Parameter earlier: the delegate that was there; it is the first observer and is held as weakly as the others.
  public init(keeping earlier: Observer? = nil) {
    if let earlier { add(earlier) }
  }

  /// Adds an observer behind all others; one that is there stays where it is.
  public func add(_ observer: Observer) {
    guard let object = Self.object(observer) else {
      preconditionFailure("an observer is an object: \(type(of: observer)) is none")
    }
    entries.removeAll { $0.observer == nil }
    guard !entries.contains(where: { $0.observer === object }) else { return }
    entries.append(Entry(observer: object))
  }

  /// Takes an observer out; one that is not there is passed over.
  public func remove(_ observer: Observer) {
    let object = Self.object(observer)
    entries.removeAll { $0.observer == nil || $0.observer === object }
  }

  /// Those who are there, in the order of adding.
  public var observers: [Observer] { entries.compactMap { $0.observer as? Observer } }

  /// Whether nobody is there.
  public var isEmpty: Bool { entries.allSatisfy { $0.observer == nil } }

  // MARK: - Calls

  /// Calls every observer.
  public func tell(_ call: (Observer) -> Void) { tell(Observer.self, call) }

  /// Calls those observers that have a capability.
  /// - Parameter capability: a protocol that refines the observers' own, or any other.
  public func tell<Capability>(_ capability: Capability.Type, _ call: (Capability) -> Void) {
    for entry in entries {
      guard let observer = entry.observer, isHere(observer), let able = observer as? Capability else { continue }
      call(able)
    }
  }

  /// Asks those observers that have a capability, all of them even after one has refused: each may have something to do.
  /// - Parameter whenNobodyResponds: the answer when none of them has it.
  /// - Returns: whether all of them agree.
  public func ask<Capability>(
    _ capability: Capability.Type, whenNobodyResponds: Bool, _ question: (Capability) -> Bool
  ) -> Bool {
    ask(capability, whenNobodyResponds: whenNobodyResponds, { $0 && $1 }, question)
  }

  /// Asks those observers that have a capability and combines their answers in the order of adding.
  /// - Parameter whenNobodyResponds: the answer when none of them has it; not combined with any other.
  public func ask<Capability, Answer>(
    _ capability: Capability.Type, whenNobodyResponds: Answer, _ combine: (Answer, Answer) -> Answer,
    _ question: (Capability) -> Answer
  ) -> Answer {
    var answer: Answer?
    tell(capability) { able in
      let next = question(able)
      answer = answer.map { combine($0, next) } ?? next
    }
    return answer ?? whenNobodyResponds
  }

  /// It may have left during the call that goes on.
  private func isHere(_ object: AnyObject) -> Bool { entries.contains { $0.observer === object } }

  /// Nil for a value that is no object: boxed anew each time, it would be released at once.
  private static func object(_ observer: Observer) -> AnyObject? {
    type(of: observer as Any) is AnyClass ? observer as AnyObject : nil
  }
}

/// A delegate slot whose multicast delegate is made on first use.
///
/// The control keeps one of these and has no other way to its delegate: while nobody asks for several, there is one delegate
/// and no object between.
public struct DelegateSlot<Observer, Several: MulticastDelegate<Observer>> {
  private weak var single: AnyObject?
  private var multicast: Several?
  private let make: (Observer?) -> Several

  /// An empty slot.
  /// - Parameter make: makes the multicast delegate, which keeps the observer that it is given; a subclass that is an
  ///   `Observer` itself.
  public init(make: @escaping (Observer?) -> Several) { self.make = make }

  /// The delegate: the one that was set, or the one that stands for several. Setting it takes all others out.
  public var delegate: Observer? {
    get { multicast as? Observer ?? single as? Observer }
    set {
      multicast = nil
      single = newValue.map { $0 as AnyObject }
    }
  }

  /// The delegate for several. Made when it is first asked for; it keeps the delegate that is there.
  public var several: Several {
    mutating get {
      if let multicast { return multicast }
      let made = make(single as? Observer)
      multicast = made
      return made
    }
  }
}
