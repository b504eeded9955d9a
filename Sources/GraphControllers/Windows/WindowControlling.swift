import GraphModel

/// The controller of one window, created by a front end for each arranged object. A `WindowSet` creates it through
/// its factory, notifies it of changes of its object's id, and releases it; the object has no reference to it.
public protocol WindowControlling: AnyObject {
  /// Typed text that no commit contains yet; nil if no editor is open or all of it is sent.
  var unsentText: String? { get }

  /// Whether an editor is open, even if its text is sent. If the object disappears meanwhile, the window set reports
  /// a loss instead of closing the window.
  var isEditing: Bool { get }

  /// The editor's text, sent or not, offered to the user if the object disappears; nil if no editor is open.
  var editedText: String? { get }

  /// Notifies the controller that the temporary id of its object became a permanent one. Nothing else changes.
  func objectDidBecome(_ id: ObjectID)
}

/// A window's position and size: values of the object, equal on every client. To move a window, change its object.
public struct WindowShape: Hashable, Sendable {
  /// The left edge, in points.
  public var x: Double
  /// The top edge, in points.
  public var y: Double
  /// The width, in points.
  public var width: Double
  /// The height, in points.
  public var height: Double
  /// The stacking order: a window is above windows with a lower value.
  public var z: Double

  /// Creates a shape from a position and a size, in points, and a stacking order.
  public init(x: Double, y: Double, width: Double, height: Double, z: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
    self.z = z
  }
}

/// Reads the shared shape of an object, for example from its attributes.
public protocol WindowShapeSource {
  /// Returns the shape; nil if the object has none or is not loaded.
  func shape(of id: ObjectID) -> WindowShape?
}
