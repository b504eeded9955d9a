import GraphModel

/// An undo stack of its own: a window's, or a document's. It numbers the groups of what is saved in it; the stack itself
/// is the server's history, so whoever keeps the id finds the stack again after a restart.
///
/// Between `beginGroup` and `endGroup` all saves are one step; outside each save is one. Groups that are begun inside
/// another belong to it.
public final class UndoScope {
  /// Names the stack in history; keep it for as long as the stack is to last.
  public let id: UniqueID
  /// The number of the group that was begun last.
  public private(set) var lastGroup: UInt64
  /// How many groups are open, one in the other; the outermost counts.
  private var depth = 0
  private var name = ""
  /// Another step came into the open group: its next save begins a step behind that.
  private var isInterrupted = false

  /// - Parameters:
  ///   - id: random; for the stack of commits that name none, zero.
  ///   - group: groups are numbered from behind this one. Two steps that follow each other must not have one number, so
  ///     after a restart go on from a number that has not been used, or from a random one.
  public init(id: UniqueID, after group: UInt64) {
    self.id = id
    lastGroup = group
  }

  /// Whether a group is open.
  public var isGrouping: Bool { depth > 0 }

  /// What is saved until the matching `endGroup` is undone together.
  /// - Parameters:
  ///   - name: for a menu, "Undo NAME"; inside another group it counts for nothing.
  ///   - group: a group that has ended and goes on, when it is the last one still; nil for a new one. Of an undo no scope
  ///     hears: behind one it is nil.
  public func beginGroup(named name: String, continuing group: UInt64? = nil) {
    depth += 1
    guard depth == 1 else { return }
    if group != lastGroup { lastGroup &+= 1 }
    self.name = name
    isInterrupted = false
  }

  /// What is saved in `body` is a step of its own, also in the middle of a group that is open: for work that goes on by
  /// itself while somebody types or drags. What is saved in the open group after it is another step of that.
  /// - Parameters:
  ///   - name: for a menu, "Undo NAME".
  ///   - group: of such a step before, which goes on when nothing was saved in between; nil for a new one.
  public func apart(named name: String, continuing group: UInt64? = nil, _ body: () -> Void) {
    let open = (depth: depth, name: self.name)
    depth = 0
    beginGroup(named: name, continuing: group)
    body()
    endGroup()
    (depth, self.name) = open
    isInterrupted = isGrouping
  }

  /// Closes the innermost group that is open; without one it does nothing.
  public func endGroup() {
    guard depth > 0 else { return }
    depth -= 1
    if depth == 0 { name = "" }
  }

  /// The group for a save: the open one, or a new one for this save alone.
  /// - Parameter name: of a new one.
  public func group(named name: String = "") -> UndoGroup {
    if !isGrouping || isInterrupted { lastGroup &+= 1 }
    isInterrupted = false
    return UndoGroup(scope: id, group: lastGroup, name: isGrouping ? self.name : name)
  }
}
