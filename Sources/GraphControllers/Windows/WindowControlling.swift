import GraphModel

/// The controller of one window: what a face makes for each arranged object. A `WindowSet` makes it through the factory
/// that it was given, tells it what became of its object, and lets go of it; the object itself never knows of it.
public protocol WindowControlling: AnyObject {
  /// The text that is typed into the window and that no commit holds yet; nil when no editor is open or all of it is sent.
  var unsentText: String? { get }

  /// Whether somebody edits in the window, be it that everything typed is sent: an object that goes away meanwhile is
  /// reported, not just closed.
  var isEditing: Bool { get }

  /// The text in the editor, sent or not, to be offered when the object goes away; nil when none is open.
  var editedText: String? { get }

  /// The object has another id now: its temporary one became permanent. Everything else stays as it is.
  func objectDidBecome(_ id: ObjectID)
}

/// Where a window stands: the object's own values, the same on every client. To move a window is to change its object.
public struct WindowShape: Hashable, Sendable {
  /// The left edge, in points.
  public var x: Double
  /// The top edge, in points.
  public var y: Double
  /// The width, in points.
  public var width: Double
  /// The height, in points.
  public var height: Double
  /// The place in the pile: a window lies above those with a lower one.
  public var z: Double

  /// A place, in points, and a height in the pile.
  public init(x: Double, y: Double, width: Double, height: Double, z: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
    self.z = z
  }
}

/// Reads the shared shape of an object, from its attributes or wherever a model keeps it.
public protocol WindowShapeSource {
  /// The shape; nil for an object that has none, or that is not here.
  func shape(of id: ObjectID) -> WindowShape?
}
