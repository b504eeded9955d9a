/// Something that a control does besides what it is made for, and that knows how to attach itself: it adds itself to the
/// control's observers, and takes itself out again.
///
/// Observers are held weakly, so somebody must own a behavior: its control does (`BehaviorOwner`). It lives as long as the
/// control, and whoever attached it need not keep it.
public protocol Behavior: AnyObject {
  /// What it can be attached to.
  associatedtype Control: AnyObject
  /// Called once, when the control has begun to own it: adds itself to the control's observers. It must not keep the control
  /// alive.
  func attach(to control: Control)
  /// Called once, when the control gives it up while both live: takes itself out.
  func detach(from control: Control)
}

/// The behaviors of one control, kept alive for it. The control has one of these and nothing else to do with them. It is
/// an object, so that a behavior may look at it while it is being attached.
public final class BehaviorOwner<Control: AnyObject> {
  private struct Owned {
    let behavior: AnyObject
    let detach: (Control) -> Void
  }

  private var owned = [Owned]()

  /// No behaviors.
  public init() {}

  /// Owns a behavior and attaches it; one that is owned already stays as it is.
  public func attach<Attached: Behavior>(_ behavior: Attached, to control: Control)
  where Attached.Control == Control {
    guard !owned.contains(where: { $0.behavior === behavior }) else { return }
    owned.append(Owned(behavior: behavior) { behavior.detach(from: $0) })
    behavior.attach(to: control)
  }

  /// Detaches a behavior and gives it up; one that is not owned is passed over.
  public func detach<Attached: Behavior>(_ behavior: Attached, from control: Control)
  where Attached.Control == Control {
    guard let index = owned.firstIndex(where: { $0.behavior === behavior }) else { return }
    owned.remove(at: index).detach(control)
  }

  /// How many are owned.
  public var count: Int { owned.count }

  /// The behaviors of a kind, in the order of attaching.
  public func behaviors<Kind>(_ kind: Kind.Type) -> [Kind] { owned.compactMap { $0.behavior as? Kind } }
}
