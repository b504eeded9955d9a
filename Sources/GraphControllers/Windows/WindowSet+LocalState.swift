import GraphModel

/// Focus, which belongs to this client, and stacking order, which all clients share.
extension WindowSet {
  /// The object whose window has the focus. When that window closes, the focus returns to the one that had it before.
  @inlinable public var focus: ObjectID? { focused.last }

  /// Gives a window the focus; ignores an object without a window.
  public mutating func setFocus(_ id: ObjectID) {
    guard controllers[id] != nil else { return }
    focused.removeAll { $0 == id }
    focused.append(id)
  }

  /// Removes the focus from all windows.
  public mutating func clearFocus() { focused = [] }

  /// Returns the windows from bottom to top, as on every client: by stacking order, then by id. Lost windows, whose
  /// object has no shape, lie on top because the user has to decide about them.
  @inlinable
  public func stackingOrder(_ shapes: some WindowShapeSource) -> [ObjectID] {
    let heights: [(z: Double, id: ObjectID)] = order.map { id in
      (shapes.shape(of: id)?.z ?? Double.infinity, id)
    }
    return heights.sorted { ($0.z, $0.id) < ($1.z, $1.id) }.map(\.id)
  }

  /// Returns the stacking order that puts a window on top; its own if it is on top already. To raise the window on
  /// every client, set the value on the object. An object without a shape has the height 0.
  public func topHeight(for id: ObjectID, _ shapes: some WindowShapeSource) -> Double {
    let own = if let shape = shapes.shape(of: id) { shape.z } else { 0.0 }
    var top = (z: own, id: id)
    for other in order where other != id {
      guard let z = shapes.shape(of: other)?.z, (z, other) > top else { continue }
      top = (z, other)
    }
    return top.id == id ? own : top.z + 1
  }
}
