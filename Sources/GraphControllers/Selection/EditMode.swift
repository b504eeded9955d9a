/// The edit mode of a list. *Edit* slides in the checkboxes and a toolbar; the button then reads *Cancel*, which
/// clears the selection. This type holds the selection; the rows do not.
public struct EditMode<ID: Hashable & Sendable>: Sendable {
  /// The duration of the slide animation, in milliseconds.
  public let slideMilliseconds: Int64

  /// The button's function.
  public enum Button: Hashable, Sendable {
    /// Begins editing.
    case edit
    /// Ends editing and clears the selection.
    case cancel

    /// The button's label.
    public var title: String {
      switch self {
      case .edit: "Edit"
      case .cancel: "Cancel"
      }
    }
  }

  /// The selection.
  public var selection = Selection<ID>()
  /// Whether rows can be selected.
  public private(set) var isEditing = false
  /// The start time of the slide, and its fraction at that time.
  private var slide: (since: Int64, from: Double)?

  /// Creates a list that is not being edited, with an empty selection.
  public init(slideMilliseconds: Int64 = 200) { self.slideMilliseconds = slideMilliseconds }

  /// The button's current function.
  public var button: Button { isEditing ? .cancel : .edit }

  /// Begins editing: the checkboxes and the toolbar slide in.
  /// - Parameter now: the time in milliseconds.
  public mutating func begin(at now: Int64) {
    guard !isEditing else { return }
    slide = (now, slideFraction(at: now))
    isEditing = true
  }

  /// Ends editing: the checkboxes and the toolbar slide out, and the selection is cleared.
  public mutating func cancel(at now: Int64) {
    guard isEditing else { return }
    slide = (now, slideFraction(at: now))
    isEditing = false
    selection.clear()
  }

  /// Toggles a clicked row; does nothing outside edit mode.
  /// - Parameter isListed: whether the object is in the list on which `selectAll` was called.
  public mutating func toggle(_ id: ID, isListed: Bool = true) {
    if isEditing { selection.toggle(id, isListed: isListed) }
  }

  /// Returns how far the checkboxes and the toolbar are in: 0 is hidden, 1 is in place. A slide that is reversed
  /// continues from its current fraction.
  public func slideFraction(at now: Int64) -> Double {
    let goal = isEditing ? 1.0 : 0.0
    guard let slide else { return goal }
    let moved = Double(now - slide.since) / Double(slideMilliseconds)
    return isEditing ? min(1, slide.from + moved) : max(0, slide.from - moved)
  }

  /// Returns whether the slide is in progress, so that the list must be redrawn.
  public func isSliding(at now: Int64) -> Bool { slideFraction(at: now) != (isEditing ? 1 : 0) }
}
