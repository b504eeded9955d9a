/// A list that can be edited: *Edit* lets circles and checks slide in, with a tool bar; its button then says *Cancel*, which
/// clears the selection. The selection lies here, not in the rows.
public struct EditMode<ID: Hashable & Sendable>: Sendable {
  /// How long it takes to slide in or out, in milliseconds.
  public let slideMilliseconds: Int64

  /// What the button says.
  public enum Button: Hashable, Sendable {
    /// Begins.
    case edit
    /// Ends and clears.
    case cancel

    /// For a person.
    public var title: String {
      switch self {
      case .edit: "Edit"
      case .cancel: "Cancel"
      }
    }
  }

  /// What is selected.
  public var selection = Selection<ID>()
  /// Whether rows can be selected.
  public private(set) var isEditing = false
  /// When the slide began, and how far in it was then.
  private var slide: (since: Int64, from: Double)?

  /// A list as it is read: no circles, nothing selected.
  public init(slideMilliseconds: Int64 = 200) { self.slideMilliseconds = slideMilliseconds }

  /// What the button says now.
  public var button: Button { isEditing ? .cancel : .edit }

  /// Circles and tool bar come.
  /// - Parameter now: milliseconds.
  public mutating func begin(at now: Int64) {
    guard !isEditing else { return }
    slide = (now, slideFraction(at: now))
    isEditing = true
  }

  /// Circles and tool bar go, and nothing is selected any more.
  public mutating func cancel(at now: Int64) {
    guard isEditing else { return }
    slide = (now, slideFraction(at: now))
    isEditing = false
    selection.clear()
  }

  /// A row was clicked. Without edit mode it selects nothing.
  /// - Parameter isListed: whether it is one of the list that all was selected of.
  public mutating func toggle(_ id: ID, isListed: Bool = true) {
    if isEditing { selection.toggle(id, isListed: isListed) }
  }

  /// How far circles and tool bar are in: 0 is out of sight, 1 in place. Turned round on the way, they go back from where
  /// they are.
  public func slideFraction(at now: Int64) -> Double {
    let goal = isEditing ? 1.0 : 0.0
    guard let slide else { return goal }
    let moved = Double(now - slide.since) / Double(slideMilliseconds)
    return isEditing ? min(1, slide.from + moved) : max(0, slide.from - moved)
  }

  /// Whether it has to be drawn again as time goes on.
  public func isSliding(at now: Int64) -> Bool { slideFraction(at: now) != (isEditing ? 1 : 0) }
}
