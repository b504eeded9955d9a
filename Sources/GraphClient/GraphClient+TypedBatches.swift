// Tests: TypedBatchTests.swift
import GraphModel
import GraphReplica
import GraphWire

/// Batches over classes, whose properties and values the compiler checks.
extension GraphClient {
  /// Sets new values in all objects of a class that satisfy a predicate, in one commit and without loading them.
  ///
  /// ```swift
  /// try await client.batchUpdate(Person.self, where: { $0.remote }) {
  ///   $0.vacationDays.set(to: $0.vacationDays + 2)
  ///   $0.email.set(to: nil)
  /// }
  /// ```
  /// - Parameter assignments: attributes and to-ones of the objects, one a line.
  /// - Throws: `Refusal`; nothing was written then, unless it is `unavailable`, when it may have been.
  @discardableResult
  public func batchUpdate<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate = { _ in .always },
    @AssignmentBuilder set assignments: (ObjectPath<Object, OwnAttribute>) -> [PropertyAssignment]
  ) async throws -> BatchResult {
    let wire = [PropertyAssignment](type, assignments).map { assignment -> (Property, BatchRequest.Assignment.Source) in
      let source: BatchRequest.Assignment.Source =
        switch assignment.value {
        case .value(let value): .value(value)
        default: .expression(assignment.value.text(in: context.model))
        }
      return (property(assignment.property), source)
    }
    return try await batchUpdate(try entity(of: type), where: GraphPredicate(type, where: predicate), set: wire)
  }

  /// Sets new values in all objects of a class for which an attribute is true.
  @discardableResult
  public func batchUpdate<Object: ManagedObject, Cardinality: SingleCardinality>(
    _ type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>,
    @AssignmentBuilder set assignments: (ObjectPath<Object, OwnAttribute>) -> [PropertyAssignment]
  ) async throws -> BatchResult {
    try await batchUpdate(type, where: { attribute($0).isTrue }, set: assignments)
  }

  /// Deletes all objects of a class that satisfy a predicate, and those that the model's delete rules cascade to.
  @discardableResult
  public func batchDelete<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate
  ) async throws -> BatchResult {
    try await batchDelete(try entity(of: type), where: GraphPredicate(type, where: predicate))
  }

  /// Deletes all objects of a class for which an attribute is true.
  @discardableResult
  public func batchDelete<Object: ManagedObject, Cardinality: SingleCardinality>(
    _ type: Object.Type, where attribute: (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Cardinality>
  ) async throws -> BatchResult {
    try await batchDelete(type, where: { attribute($0).isTrue })
  }

  /// Inserts an object for each row, in one commit and without keeping them in the context.
  ///
  /// ```swift
  /// try await client.batchInsert(Person.self, rows) { person, row in
  ///   person.name.set(to: row.name)
  ///   person.department.set(to: department)
  /// }
  /// ```
  /// - Parameters:
  ///   - rows: read only as fast as the server stores them.
  ///   - policy: resolves a row whose unique key already exists.
  ///   - values: the values of an object, one a line, of the same properties for each row; others get their defaults.
  /// - Throws: `Refusal`; nothing was written then, unless it is `unavailable`, when it may have been. A violation
  ///   names its row by the temporary id, from 1. An error of `values` ends the batch.
  @discardableResult
  public func batchInsert<Object: ManagedObject, Rows: Sequence>(
    _ type: Object.Type, _ rows: Rows, policy: MergePolicy = .error,
    @RowValueBuilder values: (ObjectPath<Object, OwnAttribute>, Rows.Element) throws -> [PropertyValue]
  ) async throws -> BatchResult {
    var outgoing = RowSender(self, id: newTransactionID())
    var columns: [PropertyNumber]?
    for row in rows {
      let values = try [PropertyValue](type, row, values)
      let numbers = values.map(\.property)
      if let columns { precondition(numbers == columns, "each row of a batch has the same properties") }
      columns = numbers
      _ = try await outgoing.append(values.map(\.value))
    }
    guard let columns else {
      return try await insert(try entity(of: type), [], &outgoing, policy) { _ in }
    }
    return try await insert(try entity(of: type), columns.map(property), &outgoing, policy) { _ in }
  }

  private func property(_ number: PropertyNumber) -> Property {
    guard let property = context.model.property(number) else {
      preconditionFailure("the model \(context.model.name) has no property \(number), which a class declares")
    }
    return property
  }
}
