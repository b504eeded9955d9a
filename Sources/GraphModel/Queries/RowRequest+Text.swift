/// A syntax error in a text of a fetch.
public struct FetchSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The texts of a fetch.
  public enum Part: String, Sendable {
    /// The columns.
    case properties
    /// The expressions to group by.
    case groups = "values to group by"
    /// The order of groups and distinct rows.
    case order
  }

  /// The text with the error.
  public let part: Part
  /// The error, with its position.
  public let cause: PredicateSyntaxError

  public var description: String { "the \(part.rawValue) can't be read at \(cause)" }
}

extension RowRequest {
  /// Parses `name, department.name, salary * 12 AS yearly`, and for groups `department.name, @count, @avg.salary`.
  /// - Parameters:
  ///   - groups: the expressions to group by, separated by commas.
  ///   - order: the order of groups and distinct rows: names of columns, separated by commas, with `-` in front for
  ///     descending. Rows for single objects have the order of the objects, which is not parsed here.
  /// - Throws: `FetchSyntaxError`.
  public init(
    parsing properties: String, distinct: Bool = false, groups: String = "", order: String = "", entity: Entity,
    model: Model
  ) throws(FetchSyntaxError) {
    var request = RowRequest(columns: [], isDistinct: distinct)
    do throws(PredicateSyntaxError) {
      if !groups.isEmpty {
        var parser = try PredicateParser(groups, entity, model, .given([:]))
        request.groups = try parser.groups()
      }
    } catch { throw FetchSyntaxError(part: .groups, cause: error) }
    do throws(PredicateSyntaxError) {
      var parser = try PredicateParser(properties, entity, model, .given([:]))
      let places = try parser.columns()
      request.columns = places.map(\.column)
      if request.isGrouped {
        for (column, place) in places {
          guard case .expression(let expression) = column.value, !request.groups.contains(expression) else { continue }
          throw parser.fail(
            "\(column.name) is neither an aggregate, such as @count or @sum.NAME, nor grouped by", at: place)
        }
      }
    } catch { throw FetchSyntaxError(part: .properties, cause: error) }
    if !request.hasRowPerObject, !order.isEmpty {
      do throws(PredicateSyntaxError) {
        request.order = try Self.order(parsing: order, of: request.columns)
      } catch { throw FetchSyntaxError(part: .order, cause: error) }
    }
    self.columns = request.columns
    self.isDistinct = request.isDistinct
    self.groups = request.groups
    self.order = request.order
  }

  private static func order(parsing text: String, of columns: [Column]) throws(PredicateSyntaxError) -> [SortColumn] {
    let names = columns.map { $0.name.filter { !$0.isWhitespace } }
    var order = [SortColumn]()
    var place = 1
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      func fail(_ reason: String) -> PredicateSyntaxError {
        PredicateSyntaxError(scalar: place, reason: reason, text: text)
      }
      var name = part.filter { !$0.isWhitespace }
      var collation: Collation?
      let descends = name.hasPrefix("-")
      if name.hasPrefix("-") || name.hasPrefix("+") { name.removeFirst() }
      if name.hasSuffix("]"), let start = name.lastIndex(of: "[") {
        let word = String(name[name.index(after: start)...].dropLast())
        collation = Collation(rawValue: word)
        guard collation != nil else {
          let all = Collation.allCases.map(\.rawValue).joined(separator: ", ")
          throw fail("there is no order \"\(word)\"; there are \(all)")
        }
        name = String(name[..<start])
      }
      guard let column = names.firstIndex(of: name) else {
        throw fail(
          "groups and distinct rows are ordered by their columns: \(columns.map(\.name).joined(separator: ", "))")
      }
      guard order.count < [SortKey].maximumCount else {
        throw fail("an order has at most \([SortKey].maximumCount) keys")
      }
      order.append(SortColumn(column: column, ascending: !descends, collation: collation))
      place += part.unicodeScalars.count + 1
    }
    return order
  }
}

extension PredicateParser {
  /// The columns of rows, each with its position in the text.
  fileprivate mutating func columns() throws(PredicateSyntaxError) -> [(column: RowRequest.Column, place: Int)] {
    if tokens.count == 1 { throw fail("properties are expected, such as name, salary * 2 AS double") }
    var columns = [(column: RowRequest.Column, place: Int)]()
    repeat {
      let place = position
      guard columns.count < RowRequest.maximumColumns else {
        throw fail("more than \(RowRequest.maximumColumns) columns")
      }
      let value = try columnValue()
      let name = try skipWord("AS") ? columnName() : value.text(in: model)
      guard name.utf8.count <= RowRequest.maximumNameSize else {
        throw fail("a column's name can have at most \(RowRequest.maximumNameSize) bytes: add AS name", at: place)
      }
      if columns.contains(where: { $0.column.name == name }) {
        throw fail("there is already a column \(name): add AS with another name", at: place)
      }
      columns.append((RowRequest.Column(name: name, value: value), place))
    } while skip(",")
    guard case .end = current else { throw fail("',', AS or the end is expected here") }
    return columns
  }

  /// The expressions to group by.
  fileprivate mutating func groups() throws(PredicateSyntaxError) -> [GraphExpression] {
    var groups = [GraphExpression]()
    repeat {
      guard groups.count < RowRequest.maximumGroups else {
        throw fail("more than \(RowRequest.maximumGroups) values to group by")
      }
      if case .word(let word) = current, word.hasPrefix("@") {
        throw fail("an aggregate summarizes a group: rows can't be grouped by it")
      }
      groups.append(try single().expression)
    } while skip(",")
    guard case .end = current else { throw fail("',' or the end is expected here") }
    return groups
  }

  /// An expression with a single value.
  private mutating func single() throws(PredicateSyntaxError) -> Operand {
    let place = position
    operations = 0
    let operand = try typed(expression(depth: 0))
    guard !operand.isMany else {
      throw fail(
        "this path leads to many values: a row has one; add @count, @sum, @min, @max or @avg", at: place)
    }
    return operand
  }

  private mutating func columnName() throws(PredicateSyntaxError) -> String {
    defer { position += 1 }
    switch current {
    case .word(let word) where !word.hasPrefix("@") && !word.hasPrefix("$"): return word
    case .string(let text) where !text.isEmpty: return text
    default: throw fail("a name is expected after AS")
    }
  }

  private mutating func columnValue() throws(PredicateSyntaxError) -> RowRequest.ColumnValue {
    guard case .word(let word) = current, word.hasPrefix("@") else { return .expression(try single().expression) }
    let place = position
    let parts = word.split(separator: ".", omittingEmptySubsequences: false)
    if word == "@count" {
      position += 1
      return .count
    }
    guard let aggregate = GraphPredicate.Aggregate(rawValue: String(parts[0].dropFirst())) else {
      throw fail(
        parts[0] == "@count"
          ? "nothing can follow @count"
          : "\(parts[0]) is not known; there are @count, @min, @max, @sum and @avg")
    }
    let operand: Operand
    if parts.count == 1 {
      position += 1
      guard skip("(") else { throw fail("\(word) needs a property after it: \(word).NAME", at: place) }
      operand = try single()
      guard skip(")") else { throw fail("')' is expected here") }
    } else {
      operand = try path(parts.dropFirst(), from: 0)
    }
    if operand.isMany { throw fail("this path leads to many values", at: place) }
    switch aggregate {
    case .minimum, .maximum:
      if operand.type == .bool || operand.isObject || operand.attribute?.kind == .json {
        throw fail("@\(aggregate.rawValue) needs values that have an order", at: place)
      }
    case .sum, .average:
      guard [.integer, .double, .decimal].contains(operand.type) else {
        throw fail("@\(aggregate.rawValue) needs numbers", at: place)
      }
    }
    return .aggregate(aggregate, operand.expression)
  }
}

extension RowRequest.ColumnValue {
  /// The text form in a list of columns.
  public func text(in model: Model) -> String {
    switch self {
    case .expression(let expression): expression.text(in: model)
    case .count: "@count"
    case .aggregate(let aggregate, let expression):
      if case .path = expression {
        "@\(aggregate.rawValue).\(expression.text(in: model))"
      } else {
        "@\(aggregate.rawValue)(\(expression.text(in: model)))"
      }
    }
  }
}
