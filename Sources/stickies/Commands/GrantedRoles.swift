import GraphClient
import GraphModel
import GraphShell
import GraphWire
import StickiesKit

/// The roles of the user, with the names of the containers.
@MainActor
struct GrantedRoles {
  private struct Line {
    let role: String
    let scope: UniqueID?
    /// The container, if the user sees it: it may have been deleted.
    let container: (entity: String, title: String)?
  }

  private let lines: [Line]

  /// The maximum number of containers whose names are read, and of lines of text.
  private static let maximumLines = 100

  /// Reads the names of the containers; nothing for a user who may do everything.
  init(_ shell: CommandContext) async throws {
    guard let welcome = shell.client.welcome else {
      preconditionFailure("a command has a connection that was welcomed")
    }
    let keys = welcome.grants.prefix(Self.maximumLines).compactMap(\.scope)
    var containers = [UniqueID: (String, String)]()
    if !keys.isEmpty {
      for entity in shell.model.entities where entity.scope == .container && entity.parent == nil {
        let ids = keys.map { ObjectID(key: $0, entity: entity.number) }
        for image in try await shell.images(of: entity, where: .identifiers(ids)) {
          containers[image.id.key] = (shell.model.entityName(image.id.entity), shell.title(image))
        }
      }
    }
    lines = welcome.grants.map { grant in
      Line(role: grant.role, scope: grant.scope, container: grant.scope.flatMap { containers[$0] })
    }
  }

  /// The lines for `status` and `whoami`, each after a line break.
  /// - Parameter label: the beginning of each line.
  func text(_ label: String) -> String {
    let shown = lines.prefix(Self.maximumLines).map { line in
      let place =
        if let container = line.container, let scope = line.scope {
          "\(container.entity) \(container.title) (\(scope))"
        } else if let scope = line.scope {
          scope.description
        } else {
          "everything"
        }
      return "\n\(label)\(TextTable.visible("\(line.role) on \(place)"))"
    }
    let more = lines.count - shown.count
    return shown.joined() + (more > 0 ? "\n\(label)and \(more) more" : "")
  }

  var json: JSON {
    .array(
      lines.map { line in
        var members = [
          JSON.Member("role", .string(line.role)), .init("scope", line.scope.map { .string($0.description) } ?? .null),
        ]
        if let container = line.container {
          members += [.init("entity", .string(container.entity)), .init("name", .string(container.title))]
        }
        return .object(members)
      })
  }
}
