import GraphModel

/// What is this client's own, and what is everybody's.
extension WindowSet {
  /// The object whose window has the focus. When that window closes, the focus goes back to the one that had it before.
  @inlinable public var focus: ObjectID? { focused.last }

  /// Gives a window the focus; an object without a window is passed over.
  public mutating func setFocus(_ id: ObjectID) {
    guard controllers[id] != nil else { return }
    focused.removeAll { $0 == id }
    focused.append(id)
  }

  /// No window has the focus any more.
  public mutating func clearFocus() { focused = [] }

  /// The windows from the lowest to the highest, as on every client: by the height in the pile, by id where two are equal.
  /// Those whose object has no shape any more, which are lost ones, lie on top: somebody has to decide about them.
  @inlinable
  public func pile(_ shapes: some WindowShapeSource) -> [ObjectID] {
    let heights: [(z: Double, id: ObjectID)] = order.map { id in
      (shapes.shape(of: id)?.z ?? Double.infinity, id)
    }
    return heights.sorted { ($0.z, $0.id) < ($1.z, $1.id) }.map(\.id)
  }

  /// The height that lays a window on top of all others; its own when it lies there already. To raise it, set it on the
  /// object: then it is raised for everybody.
  public func topHeight(for id: ObjectID, _ shapes: some WindowShapeSource) -> Double {
    let own = shapes.shape(of: id)?.z ?? 0
    var top = (z: own, id: id)
    for other in order where other != id {
      guard let z = shapes.shape(of: other)?.z, (z, other) > top else { continue }
      top = (z, other)
    }
    return top.id == id ? own : top.z + 1
  }
}
