/// The path to an object's scope, which is the container whose roles apply to it. The model file names the scope of an
/// entity with `"scope"`; its subentities have the same one.
public enum EntityScope: Hashable, Sendable {
  /// The object is a container: its scope is its own id.
  case container
  /// A to-one refers to the container itself.
  case reference(PropertyNumber)
  /// A hidden attribute has the container's key. The planner keeps it equal to the scope of the object to which the
  /// to-one `through` refers.
  case stored(PropertyNumber, through: PropertyNumber)
  /// The objects belong to no single container: a role on any of them is enough to use them (``Rights/sharedRole``).
  case shared
}

extension Entity {
  package func scopeKey(of image: ObjectImage, _ scope: EntityScope) -> UniqueID? {
    switch scope {
    case .container: return image.id.key
    case .shared: return nil
    case .reference(let number): return (property(number)).flatMap { image[$0].objectID }?.key
    case .stored(let number, _):
      guard let property = property(number), case .uuid(let key) = image[property] else { return nil }
      return key
    }
  }
}
