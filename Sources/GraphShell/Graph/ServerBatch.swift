import ArgumentParser
import GraphClient
import GraphJSON
import GraphModel
import GraphReplica
import GraphWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Batches: the daemon changes many objects in one commit, all or none.
@MainActor
struct ServerBatch {
  private let shell: CommandContext
  private var client: GraphClient { shell.client }
  private var model: Model { shell.model }
  private var output: Output { shell.output }

  init(_ shell: CommandContext) { self.shell = shell }

  /// Changes all objects that match.
  /// - Parameter calculations: assignments such as `salary=salary * 1.1`.
  func update(
    _ entity: Entity, where predicate: GraphPredicate, _ inputs: [PropertyInput], calculations: [String]
  ) async throws {
    var assignments = [(property: Property, to: BatchRequest.Assignment.Source)]()
    let edits = try await InputResolver(shell).edits(inputs)
    for (input, edit) in zip(inputs, edits) {
      guard case .set(let value) = edit.action else {
        preconditionFailure("the edit of no object in particular sets a value: \(input.property.name)")
      }
      assignments.append((input.property, .value(value)))
    }
    for text in calculations {
      guard let equals = text.firstIndex(of: "=") else {
        throw Refusal(.malformed, "\"\(text)\" is not of the form name=expression")
      }
      let expression = String(text[text.index(after: equals)...])
      do {
        let property = try PropertyInput.property(text[..<equals].trimmingSpaces, of: entity)
        guard !assignments.contains(where: { $0.property.number == property.number }) else {
          throw InvalidInputError("\(property.name) is given twice")
        }
        // Parsed here to report mistakes before the request.
        _ = try GraphExpression(parsing: expression, entity: entity, model: model)
        assignments.append((property, .expression(expression)))
      } catch let error as InvalidInputError {
        throw Refusal(.malformed, "\(error)")
      }
    }
    let progress = ProgressLine(isShown: isatty(2) == 1 && !output.json, interrupted: Interruption.allOrNothing)
    defer { progress.end() }
    let saved = try await client.batchUpdate(entity, where: predicate, set: assignments) {
      Self.show($0, "updated", progress)
    }
    progress.end()
    printResult(saved, "updated", entity)
  }

  /// Deletes all objects that match, with those that the delete rules cascade to.
  func delete(_ entity: Entity, where predicate: GraphPredicate) async throws {
    let progress = ProgressLine(isShown: isatty(2) == 1 && !output.json, interrupted: Interruption.allOrNothing)
    defer { progress.end() }
    let saved = try await client.batchDelete(entity, where: predicate) { Self.show($0, "deleted", progress) }
    progress.end()
    printResult(saved, "deleted", entity)
  }

  /// Inserts an object for each line of standard input, all or none.
  func insert(_ entity: Entity, policy: MergePolicy) async throws {
    if entity.isAbstract { throw Refusal(.malformed, model.abstractSentence(entity)) }
    guard let lines = try await BatchRowReader(LineReader(descriptor: 0), entity) else {
      throw Refusal(.malformed, "standard input is empty")
    }
    let progress = ProgressLine(isShown: isatty(2) == 1 && !output.json, interrupted: Interruption.allOrNothing)
    defer { progress.end() }
    do {
      let placed = PlacedRows(lines, entity, output.program.placement(in: client, policy: policy))
      let rows = AsyncThrowingStream(unfolding: { try await placed.next() })
      let saved = try await client.batchInsert(entity, placed.properties, rows: rows, policy: policy) { step in
        if step.total == 0 { progress.show("\(step.done) lines sent") } else { Self.show(step, "inserted", progress) }
      }
      progress.end()
      printResult(saved, "inserted", entity)
    } catch let refusal as Refusal {
      var explained = await RefusalExplainer(shell).explained(refusal)
      for violation in refusal.violations where violation.id.isTemporary {
        guard let row = Int(exactly: violation.id.key.low), lines.numbers.indices.contains(row - 1) else { continue }
        explained.lines[violation.id] = Int(lines.numbers[row - 1])
      }
      // The message of a failing store already describes the state.
      if refusal.code != .unavailable { explained.done = "nothing is committed" }
      throw explained
    }
  }

  private static func show(_ step: BatchProgress, _ word: String, _ progress: ProgressLine) {
    progress.show("\(step.done) of \(step.total) \(word)")
  }

  /// Prints the result of a batch. The count includes cascaded deletes and objects whose references were nullified;
  /// it is nil for a batch repeated after a lost answer.
  private func printResult(_ saved: GraphClient.BatchResult, _ word: String, _ entity: Entity) {
    let revisions = saved.changed == 0 ? [] : [JSON.integer(saved.committed.revision)]
    if output.json {
      return output.print(
        JSON.object([
          .init("changed", saved.changed.map { .integer(Int64($0)) } ?? .null),
          .init("revisions", .array(revisions)),
        ]))
    }
    switch saved.changed {
    case nil: output.print("\(word) \(entity.name) objects in one commit")
    case 0?: output.print("no \(entity.name) object was \(word): nothing changes, and nothing is committed")
    case let changed?:
      output.print("\(word) \(entity.name) objects in one commit: \(Output.count(changed, "object")) changed")
    }
  }
}

extension Substring {
  fileprivate var trimmingSpaces: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
