import GraphAccess
import GraphModel
import GraphStoreTools

/// The containers on which users have roles, in the form that `--on` takes: `Board:Plans`.
struct ScopeNames {
  private var texts = [UniqueID: String]()

  /// Names no container.
  init() {}

  /// Reads the names of the grants' containers. If the store can't be read, there are none: a list of accounts must not
  /// depend on the store.
  init(of grants: some Sequence<AccessGrant>, _ flags: StoreFlags) async {
    let keys = Set(grants.compactMap(\.scope))
    if !keys.isEmpty, let settings = try? await flags.settings(),
      let model = try? ModelSource.load(folder: settings.schema, forStoreAt: settings.storePath),
      let containers = try? StoredObject.containers(keys, directory: settings.data, model: model)
    {
      add(containers, model)
    }
  }

  private mutating func add(_ containers: [ObjectImage], _ model: Model) {
    for image in containers {
      guard let entity = model.entity(image.id.entity), let property = entity.scopeName(in: model),
        case .string(let name) = image[property]
      else { continue }
      texts[image.id.key] = "\(entity.name):\(Self.printable(name))"
    }
  }

  /// A grant's place, for a line of text: the id of the scope, and the name if there is one.
  func text(_ grant: AccessGrant) -> String {
    guard let scope = grant.scope else { return "store" }
    return if let name = texts[scope] { "\(scope) (\(name))" } else { scope.description }
  }

  func members(of grant: AccessGrant) -> [JSON.Member] {
    guard let name = grant.scope.flatMap({ texts[$0] }) else { return grant.members }
    return grant.members + [JSON.Member("on", .string(name))]
  }

  /// A text of a user on a line of others: without characters that move the cursor or change the order of the line.
  private static func printable(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar -> Unicode.Scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
          default: scalar
          }
        }))
  }
}

extension Entity {
  /// The property with the names of the objects: a unique key of one text; nil if there is none.
  func scopeName(in model: Model) -> Property? {
    let keys = uniquenessConstraints.filter { $0.count == 1 }.compactMap { $0.first }
    return keys.compactMap { model.property($0) }.first { $0.attribute?.kind == .string }
  }
}
