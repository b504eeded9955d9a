// Tests: ScopeStoreTests.swift
import GraphModel

/// The scopes of the objects of an imported graph. Its rows may refer to later ones, so the ways to the containers are
/// collected while the objects are written, and followed when their references are. About 70 bytes for each object with
/// a scope.
struct ImportedScopes {
  private let model: Model
  /// The keys to which the objects' scopes lead; an object that is a container leads to itself.
  private var next = [UniqueID: UniqueID]()

  init(_ model: Model) { self.model = model }

  /// Adds an object as its row describes it.
  mutating func add(_ image: ObjectImage, _ entity: Entity) {
    switch entity.scope {
    case .container?: next[image.id.key] = image.id.key
    case .reference(let through)?, .stored(_, through: let through)?:
      if let target = image[model.ownProperty(through)].objectID { next[image.id.key] = target.key }
    case .shared?, nil: break
    }
  }

  /// The image with its scope, if the entity stores one.
  func completed(_ image: ObjectImage, _ entity: Entity) -> ObjectImage {
    guard case .stored(let number, _)? = entity.scope, let scope = entity.property(number) else { return image }
    var image = image
    image[scope] = container(of: image.id.key).map(Value.uuid).orNull
    return image
  }

  /// Follows the paths, which are at most as long as the chain of the model's entities. Wrong references are reported
  /// elsewhere.
  private func container(of key: UniqueID) -> UniqueID? {
    var key = key
    for _ in 0...model.entities.count {
      guard let further = next[key] else { return nil }
      if further == key { return key }
      key = further
    }
    return nil
  }
}
