import GraphModel

/// An undo stack, of a window or a document. It numbers the groups of its saves; the stack itself is the server's
/// history, so that its id finds it again after a restart.
///
/// All saves between `beginGroup` and `endGroup` are one step; outside, each save is one. Nested groups belong to the
/// outermost one.
public final class UndoScope {
  /// Names the stack in history; keep it for as long as the stack should last.
  public let id: UniqueID
  /// The number of the newest group.
  public private(set) var lastGroup: UInt64
  /// The number of open groups; the outermost counts.
  private var depth = 0
  private var name = ""
  /// Whether another step was saved inside the open group, whose next save therefore begins a new step.
  private var isInterrupted = false

  /// Makes an undo stack.
  /// - Parameters:
  ///   - id: random; zero for the stack of commits that name none.
  ///   - group: groups are numbered from the one after this. Two consecutive steps must have different numbers, so
  ///     after a restart continue from a number that has not been used, or from a random one.
  public init(id: UniqueID, after group: UInt64) {
    self.id = id
    lastGroup = group
  }

  /// Whether a group is open.
  public var isGrouping: Bool { depth > 0 }

  /// Begins a group: saves until the matching `endGroup` are undone together.
  /// - Parameters:
  ///   - name: for a menu, "Undo NAME"; ignored inside another group.
  ///   - group: an ended group to continue, if it is still the last one; nil for a new one. A scope is not notified
  ///     of undos: after one, pass nil.
  public func beginGroup(named name: String, continuing group: UInt64? = nil) {
    depth += 1
    if depth > 1 { return }
    if group != lastGroup { lastGroup &+= 1 }
    self.name = name
    isInterrupted = false
  }

  /// Makes the saves in `body` a step of their own, even inside an open group. It is meant for background work while
  /// a user types or drags. Later saves in the open group are another step of it.
  /// - Parameters:
  ///   - name: for a menu, "Undo NAME".
  ///   - group: an earlier such step to continue, if nothing was saved in between; nil for a new one.
  public func apart(named name: String, continuing group: UInt64? = nil, _ body: () -> Void) {
    let open = (depth: depth, name: self.name)
    depth = 0
    beginGroup(named: name, continuing: group)
    body()
    endGroup()
    (depth, self.name) = open
    isInterrupted = isGrouping
  }

  /// Closes the innermost open group; does nothing if there is none.
  public func endGroup() {
    if depth == 0 { return }
    depth -= 1
    if depth == 0 { name = "" }
  }

  /// The group for a save: the open one, or a new one for this save alone.
  /// - Parameter name: the name of a new group.
  public func group(named name: String = "") -> UndoGroup {
    if !isGrouping || isInterrupted { lastGroup &+= 1 }
    isInterrupted = false
    return UndoGroup(scope: id, group: lastGroup, name: isGrouping ? self.name : name)
  }
}
