/// An extension of a control's behavior that attaches itself: it adds itself to the control's observers and removes
/// itself again.
///
/// Observers are held weakly, so the control owns its behaviors (`BehaviorOwner`). A behavior lives as long as its
/// control, and the code that attached it need not keep it.
public protocol Behavior: AnyObject {
  /// The type of control that it can be attached to.
  associatedtype Control: AnyObject
  /// Called once after the control has become the owner; adds the behavior to the control's observers. It must not
  /// retain the control.
  func attach(to control: Control)
  /// Called once when the behavior is detached while the control is alive; removes it from the observers.
  func detach(from control: Control)
}

/// Owns the behaviors of one control. The control only holds the owner. It is a class, so a behavior can read it
/// while it is being attached.
public final class BehaviorOwner<Control: AnyObject> {
  private struct AttachedBehavior {
    let behavior: AnyObject
    let detach: (Control) -> Void
  }

  private var owned = [AttachedBehavior]()

  /// Creates an owner without behaviors.
  public init() {}

  /// Owns a behavior and attaches it; does nothing if it is owned already.
  public func attach<Attached: Behavior>(_ behavior: Attached, to control: Control)
  where Attached.Control == Control {
    guard !owned.contains(where: { $0.behavior === behavior }) else { return }
    owned.append(AttachedBehavior(behavior: behavior) { behavior.detach(from: $0) })
    behavior.attach(to: control)
  }

  /// Detaches and releases a behavior; ignores one that is not owned.
  public func detach<Attached: Behavior>(_ behavior: Attached, from control: Control)
  where Attached.Control == Control {
    guard let index = owned.firstIndex(where: { $0.behavior === behavior }) else { return }
    owned.remove(at: index).detach(control)
  }

  /// The number of owned behaviors.
  public var count: Int { owned.count }

  /// Returns the behaviors of a type, in the order of attaching.
  public func behaviors<Kind>(_ kind: Kind.Type) -> [Kind] { owned.compactMap { $0.behavior as? Kind } }
}
