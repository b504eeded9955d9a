import ArgumentParser
import Foundation
import GraphAccess
import GraphModel
import GraphStoreTools

/// `stickiesd access`
struct AccessCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "access", abstract: "Show why a user may or may not do something.", subcommands: [Explain.self])

  struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "explain", abstract: "Show which role and which rule decide about an object.",
      discussion: """
        It reads the object beside a running daemon. Without an operation it explains all of them: read, insert (of an \
        equal object), update and delete.
        """)

    @OptionGroup var store: StoreFlags
    @Argument(help: "The name of the user, or of a share link.") var user: String
    @Argument(help: ArgumentHelp("The object: \(ObjectName.forms).")) var object: String
    @Argument(help: ArgumentHelp("One of read, insert, update, delete; default: all.")) var operation: String?
    @Flag(help: "Print the result as one line of JSON.") var json = false

    func validate() throws {
      try ObjectName.check(object)
      if let operation, AccessRules.Operation(rawValue: operation) == nil {
        let names = AccessRules.Operation.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("there is no operation \"\(operation.excerpt)\"; the operations are \(names)")
      }
    }

    mutating func run() async throws {
      let (name, object, flags) = (user, ObjectName(object), store)
      let operations =
        operation.flatMap { AccessRules.Operation(rawValue: $0) }.map { [$0] } ?? AccessRules.Operation.allCases
      let json = json
      let settings = try await StoreCommand.reportingFailures(json: json) { try await flags.settings() }
      try await AccountCommand.run(flags, json: json) { file in
        let user = try file.user(named: name)
        let key = try await object.key(flags)
        let model = try ModelSource.load(folder: settings.schema, forStoreAt: settings.storePath)
        let stored = try StoredObject(key, directory: settings.data, model: model)
        guard let image = stored.image else {
          throw Refusal(.notFound, "there is no object with the id \(key) at revision \(stored.revision)")
        }
        let explanation = AccessExplanation(of: user, image, model: model)
        if json { return Console.print(explanation.json(operations).text) }
        for line in explanation.lines(operations) { Console.printLine(line) }
      }
    }
  }
}

/// The decisions about one object, each with its grant and its rule.
struct AccessExplanation {
  private let user: AccessUser
  private let image: ObjectImage
  private let model: Model
  private let judge: AccessJudge
  private let scope: UniqueID?

  init(of user: AccessUser, _ image: ObjectImage, model: Model) {
    (self.user, self.image, self.model) = (user, image, model)
    judge = AccessJudge(user.rights, model: model)
    scope = model.scope(of: image)
  }

  /// The grant that decides: the stronger one of the grant on the complete store and the grant on the object's scope.
  private var grant: AccessGrant? {
    user.grants.filter { $0.scope == nil || $0.scope == scope || isShared }.max { $0.role < $1.role }
  }

  /// Whether the object belongs to all scopes.
  private var isShared: Bool { model.entity(image.id.entity)?.scope == .shared }

  private var entity: String { if let entity = model.entity(image.id.entity) { entity.name } else { "object" } }

  /// The reason why an operation is not allowed; nil if it is.
  private func refusal(_ operation: AccessRules.Operation) -> String? {
    switch operation {
    case .read:
      if judge.sees(image) { return nil }
      return judge.role(for: image) == nil ? "no role here" : "the rule does not hold"
    case .insert: return judge.missingRight(before: nil, after: image, changed: [])?.message
    case .update: return judge.missingUpdate(of: image)?.message
    case .delete: return judge.missingRight(before: image, after: nil, changed: [])?.message
    }
  }

  private func rule(_ operation: AccessRules.Operation) -> String? {
    model.accessRules(of: image.id.entity)?.rules[operation]?.text
  }

  func lines(_ operations: [AccessRules.Operation]) -> [String] {
    let place = if let scope { "scope \(scope)" } else { isShared ? "shared by all scopes" : "no scope" }
    var lines = ["\(entity) \(image.id), \(place)"]
    if let grant {
      let holds = if let scope = grant.scope { "on \(scope)" } else { "on the complete store" }
      lines.append("\(user.name) has the role \(grant.role.rawValue) \(holds), since \(RFC3339.text(grant.created))")
      if let role = judge.role(for: image), role < grant.role {
        lines.append("on objects that all scopes share, this is the role \(role.rawValue)")
      }
    } else {
      lines.append("\(user.name) has no role here")
    }
    for operation in operations {
      let rule = rule(operation).map { "  rule: \($0)" } ?? ""
      if let refusal = refusal(operation) {
        lines.append("\(operation.rawValue): no, \(refusal)\(rule)")
      } else {
        lines.append("\(operation.rawValue): yes\(rule)")
      }
    }
    return lines
  }

  func json(_ operations: [AccessRules.Operation]) -> JSON {
    .object([
      .init("user", .string(user.principal.id)), .init("object", .string(image.id.description)),
      .init("entity", .string(entity)), .init("scope", scope.map { .string($0.description) } ?? .null),
      .init("grant", grant.map { .object($0.members) } ?? .null),
      .init(
        "operations",
        .array(
          operations.map { operation in
            let refusal = refusal(operation)
            return .object([
              .init("operation", .string(operation.rawValue)), .init("allowed", .bool(refusal == nil)),
              .init("rule", rule(operation).map { .string($0) } ?? .null),
              .init("reason", refusal.map { .string($0) } ?? .null),
            ])
          })),
    ])
  }
}
