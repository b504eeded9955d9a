import GraphControllers
import Testing

/// Several observers behind one slot, as the lines that they write.
@Suite struct MulticastDelegateTests {
  private final class Log { var lines = [String]() }

  private protocol DoorDelegate: AnyObject {
    func doorDidOpen()
  }

  /// A delegate without an answer does not count.
  private protocol DoorGuarding: DoorDelegate {
    func doorMayOpen() -> Bool
  }

  private class Observer: DoorDelegate {
    let name: String
    let log: Log
    var duringCall: () -> Void = {}

    init(_ name: String, _ log: Log) { (self.name, self.log) = (name, log) }

    func doorDidOpen() {
      log.lines.append("\(name) heard")
      duringCall()
    }
  }

  private final class GuardingObserver: Observer, DoorGuarding {
    var agrees = true

    func doorMayOpen() -> Bool {
      log.lines.append("\(name) says \(agrees ? "yes" : "no")")
      return agrees
    }
  }

  private final class Doors: MulticastDelegate<any DoorDelegate>, DoorDelegate {
    func doorDidOpen() { notify { $0.doorDidOpen() } }

    func mayOpen(whenNobodyResponds: Bool) -> Bool {
      ask((any DoorGuarding).self, whenNobodyResponds: whenNobodyResponds) { $0.doorMayOpen() }
    }
  }

  private final class Door {
    var slot = DelegateSlot<any DoorDelegate, Doors> { Doors(keeping: $0) }
  }

  @Test func observersAreCalledOnceInOrderOfAddition() {
    let (log, doors) = (Log(), Doors())
    let (ann, bob) = (Observer("ann", log), Observer("bob", log))
    for observer in [bob, ann, bob] { doors.add(observer) }
    doors.doorDidOpen()
    #expect(log.lines == ["bob heard", "ann heard"])
    doors.remove(bob)
    doors.remove(bob)
    doors.doorDidOpen()
    #expect(log.lines == ["bob heard", "ann heard", "ann heard"])
  }

  @Test func releasedObserverIsRemoved() {
    let (log, doors) = (Log(), Doors())
    let ann = Observer("ann", log)
    var bob: Observer? = Observer("bob", log)
    weak let released = bob
    if let bob { doors.add(bob) }
    doors.add(ann)
    bob = nil
    #expect(released == nil)
    doors.doorDidOpen()
    #expect(log.lines == ["ann heard"])
    #expect(doors.observers.count == 1)
  }

  @Test func observersRemovedOrAddedDuringCallTakeEffectAtOnceOrNextCall() {
    let (log, doors) = (Log(), Doors())
    let (ann, bob, cid, dan) =
      (Observer("ann", log), Observer("bob", log), Observer("cid", log), Observer("dan", log))
    for observer in [ann, bob, cid] { doors.add(observer) }
    ann.duringCall = {
      doors.remove(ann)
      doors.remove(bob)
      doors.add(dan)
    }
    doors.doorDidOpen()
    #expect(log.lines == ["ann heard", "cid heard"])
    log.lines = []
    doors.doorDidOpen()
    #expect(log.lines == ["cid heard", "dan heard"])
  }

  @Test func onlyRespondingObserversAreAskedAndAllMustAgree() {
    let (log, doors) = (Log(), Doors())
    let (silent, ann, bob) = (Observer("silent", log), GuardingObserver("ann", log), GuardingObserver("bob", log))
    for observer in [silent, ann, bob] { doors.add(observer) }
    #expect(doors.mayOpen(whenNobodyResponds: false))
    ann.agrees = false
    // The last answer does not win.
    #expect(!doors.mayOpen(whenNobodyResponds: true))
    #expect(log.lines == ["ann says yes", "bob says yes", "ann says no", "bob says yes"])
  }

  @Test func unansweredQuestionReturnsDefault() {
    let (log, doors) = (Log(), Doors())
    let silent = Observer("silent", log)
    doors.add(silent)
    #expect(doors.mayOpen(whenNobodyResponds: true))
    #expect(!doors.mayOpen(whenNobodyResponds: false))
    #expect(log.lines == [])
    let sum = doors.ask((any DoorGuarding).self, whenNobodyResponds: 7, +) { _ in 1 }
    #expect(sum == 7)
    let ann = GuardingObserver("ann", log)
    doors.add(ann)
    #expect(doors.ask((any DoorGuarding).self, whenNobodyResponds: 7, +) { _ in 1 } == 1)
  }

  @Test func slotCreatesMulticastOnFirstUseAndKeepsExistingDelegate() {
    let (log, door) = (Log(), Door())
    let (ann, bob) = (Observer("ann", log), Observer("bob", log))
    door.slot.delegate = ann
    #expect(door.slot.delegate === ann, "no object between")
    door.slot.several.add(bob)
    #expect(door.slot.delegate === door.slot.several)
    door.slot.delegate?.doorDidOpen()
    #expect(log.lines == ["ann heard", "bob heard"])
    // Setting the delegate replaces all others.
    door.slot.delegate = bob
    door.slot.delegate?.doorDidOpen()
    #expect(log.lines == ["ann heard", "bob heard", "bob heard"])
  }

  @Test func slotHoldsADelegateWeakly() {
    let (log, door) = (Log(), Door())
    var ann: Observer? = Observer("ann", log)
    door.slot.delegate = ann
    #expect(door.slot.delegate != nil)
    ann = nil
    #expect(door.slot.delegate == nil)
  }

  // MARK: - Behaviors

  private final class SelfAttachingObserver: Observer, Behavior {
    func attach(to door: BehavingDoor) {
      log.lines.append("\(name) attached, \(door.behaviors.count) owned")
      door.slot.several.add(self)
    }

    func detach(from door: BehavingDoor) { door.slot.several.remove(self) }
  }

  private final class BehavingDoor {
    var slot = DelegateSlot<any DoorDelegate, Doors> { Doors(keeping: $0) }
    let behaviors = BehaviorOwner<BehavingDoor>()
  }

  @Test func behaviorLivesAsLongAsItsControl() {
    let log = Log()
    var door: BehavingDoor? = BehavingDoor()
    weak var knocker: SelfAttachingObserver?
    if let door {
      let made = SelfAttachingObserver("knocker", log)
      knocker = made
      door.behaviors.attach(made, to: door)
      door.behaviors.attach(made, to: door)
    }
    // Only the control holds the observer.
    #expect(knocker != nil && door?.behaviors.behaviors(SelfAttachingObserver.self).count == 1)
    door?.slot.delegate?.doorDidOpen()
    #expect(log.lines == ["knocker attached, 1 owned", "knocker heard"])
    door = nil
    #expect(knocker == nil)
  }

  @Test func detachedBehaviorReceivesNothing() {
    let (log, door) = (Log(), BehavingDoor())
    let knocker = SelfAttachingObserver("knocker", log)
    door.behaviors.attach(knocker, to: door)
    door.behaviors.detach(knocker, from: door)
    door.behaviors.detach(knocker, from: door)
    door.slot.delegate?.doorDidOpen()
    #expect(log.lines == ["knocker attached, 1 owned"] && door.behaviors.count == 0)
  }
}
