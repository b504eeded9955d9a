// Tests: TypedFetchTests.swift, RowDecoderTests.swift, FetchingTests.swift
import GraphModel
import GraphReplica
import GraphWire

/// Values instead of objects: of objects, or of groups of them. The server calculates, and sends only the rows.
extension GraphReader {
  // MARK: - Tuples

  /// Reads values of each object, as tuples whose types follow from the model.
  ///
  /// ```swift
  /// let rows = try await client.rows(of: Person.self, sort: [\.name.ascending]) {
  ///   $0.name
  ///   $0.department.code
  ///   $0.salary * 12
  /// }
  /// ```
  /// - Parameters:
  ///   - distinct: return equal rows once, in the order of their columns; `sort` must be empty then.
  ///   - columns: at most 100 values, none of them an aggregate.
  /// - Throws: `Refusal`; `RowValueError` for a value that the program's class does not know, such as a new case of an
  ///   enumeration.
  public func rows<Object: ManagedObject, each Output>(
    of type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate = { _ in .always },
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = [], distinct: Bool = false, limit: Int? = nil,
    @RowBuilder columns: (ObjectPath<Object, ExactlyOne>) -> TypedRow<repeat each Output>
  ) async throws -> [(repeat each Output)] {
    precondition(!distinct || sort.isEmpty, "distinct rows are ordered by their columns")
    let row = TypedRow(type, columns)
    var fetch = wireFetch(
      try entity(of: type), GraphPredicate(type, where: predicate), [SortKey](type, by: sort), limit)
    (fetch.result, fetch.distinct) = (.rows, distinct)
    return try await tuples(of: row, fetch)
  }

  /// Reads aggregates of groups of objects. All columns that are no aggregates are grouped by; without any there is one
  /// group of all objects.
  ///
  /// ```swift
  /// let departments = try await client.groups(of: Person.self, sort: [{ $0.salary.average.descending }]) {
  ///   $0.department.code
  ///   $0.id.count
  ///   $0.salary.average
  /// }
  /// ```
  /// - Parameters:
  ///   - sort: columns, the most significant first; groups are otherwise ordered by their columns.
  ///   - columns: at most 100 values and aggregates: `count` of the id, `sum`, `average`, `minimum`, `maximum`.
  /// - Throws: `Refusal`, `malformed` for an order by a value that is not a column; `RowValueError` for a value that
  ///   the program's class does not know.
  public func groups<Object: ManagedObject, each Output>(
    of type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate = { _ in .always },
    sort: [(ObjectPath<Object, ExactlyOne>) -> any GroupOrderKey] = [], limit: Int? = nil,
    @RowBuilder columns: (ObjectPath<Object, ExactlyOne>) -> TypedRow<repeat each Output>
  ) async throws -> [(repeat each Output)] {
    let row = TypedRow(type, columns)
    var fetch = wireFetch(try entity(of: type), GraphPredicate(type, where: predicate), [], limit)
    fetch.result = .rows
    fetch.sort = try row.order([GroupSortKey](type, sort), in: context.model)
    return try await tuples(of: row, fetch)
  }

  private func tuples<each Output>(
    of row: TypedRow<repeat each Output>, _ fetch: Fetch
  ) async throws -> [(repeat each Output)] {
    var fetch = fetch
    (fetch.properties, fetch.groupBy) = row.request(in: context.model)
    let stream = rows(fetch)
    var tuples = [(repeat each Output)]()
    while let chunk = try await stream.nextChunk() {
      for values in chunk { tuples.append(try row.tuple(of: values.values, in: context.model)) }
    }
    return tuples
  }

  // MARK: - Decodable types

  /// Reads rows as values of a `Decodable` type, by the names of its properties.
  ///
  /// ```swift
  /// struct Pay: Decodable { var name: String; var code: String; var yearly: Decimal? }
  /// let pay = try await client.fetch(
  ///   Person.self, "name, department.code AS code, salary * 12 AS yearly", as: Pay.self,
  ///   where: { $0.remote }, sort: "name")
  /// ```
  /// - Parameters:
  ///   - columns: the values in their text form, each named like a property of `Row`, with `AS` where it is not. For
  ///     groups also `@count`, `@sum.salary`, `@avg.…`, `@min.…`, `@max.…`.
  ///   - groups: the columns to group by.
  ///   - sort: paths as in any order; for groups and distinct rows the names of columns.
  /// - Throws: `Refusal`; `RowValueError`, which names the column.
  public func fetch<Object: ManagedObject, Row: Decodable>(
    _ type: Object.Type, _ columns: String, as row: Row.Type,
    where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate, groupBy groups: String = "",
    distinct: Bool = false, sort: String = "", limit: Int? = nil
  ) async throws -> [Row] {
    let condition = GraphPredicate(type, where: predicate)
    let fetch = rowFetch(try entity(of: type), columns, condition, groups, distinct, sort, limit)
    return try await rows(fetch).decoded(as: row)
  }

  /// Reads rows as values of a `Decodable` type, with a predicate in its text form.
  public func fetch<Object: ManagedObject, Row: Decodable>(
    _ type: Object.Type, _ columns: String, as row: Row.Type, where text: String = "", groupBy groups: String = "",
    distinct: Bool = false, sort: String = "", limit: Int? = nil
  ) async throws -> [Row] {
    let entity = try entity(of: type)
    let fetch = rowFetch(entity, columns, try predicate(text, entity), groups, distinct, sort, limit)
    return try await rows(fetch).decoded(as: row)
  }

  // MARK: - Texts

  /// Reads values of objects, or of groups of them, all at once.
  public func rows<Object: ManagedObject>(
    of type: Object.Type, _ properties: String, where text: String = "", groupBy groups: String = "",
    distinct: Bool = false, sort: String = "", limit: Int? = nil
  ) async throws -> [FetchedRow] {
    let entity = try entity(of: type)
    var all = [FetchedRow]()
    let fetch = rowFetch(entity, properties, try predicate(text, entity), groups, distinct, sort, limit)
    for try await chunk in rows(fetch) { all += chunk }
    return all
  }

  private func rowFetch(
    _ entity: Entity, _ columns: String, _ predicate: GraphPredicate, _ groups: String, _ distinct: Bool,
    _ sort: String, _ limit: Int?
  ) -> Fetch {
    var fetch = wireFetch(entity, predicate, [], limit)
    (fetch.result, fetch.properties, fetch.groupBy, fetch.distinct) = (.rows, columns, groups, distinct)
    fetch.sort = sort
    return fetch
  }
}

extension RowStream {
  /// All rows as values of a type.
  fileprivate func decoded<Row: Decodable>(as type: Row.Type) async throws -> [Row] {
    var decoded = [Row]()
    while let chunk = try await nextChunk() {
      for row in chunk { decoded.append(try RowDecoder.decode(type, from: row)) }
    }
    return decoded
  }
}
