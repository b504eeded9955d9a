import GraphModel
import GraphTesting
import Testing

/// Columns, groups and cursors as text and bytes.
@Suite struct RowRequestTests {
  private func parse(
    _ properties: String, groups: String = "", distinct: Bool = false, order: String = ""
  ) throws -> RowRequest {
    let model = try Fixtures.company()
    let person = try #require(model.entity(named: "Person"))
    return try RowRequest(
      parsing: properties, distinct: distinct, groups: groups, order: order, entity: person, model: model)
  }

  @Test func columnsHaveNamesAndTypes() throws {
    let model = try Fixtures.company()
    let request = try parse("name, manager.name,age*12 AS yearly, extra, level, id")
    let expected = [
      "name string", "manager.name string", "yearly integer", "extra json", "level enumeration", "id object",
    ]
    #expect(request.description(in: model).map { "\($0.name) \($0.type)" } == expected)
    #expect(request.hasRowPerObject)
    let groups = try parse(
      "manager.name, @count, @sum.salary, @avg.age AS \"mean age\", @max(age * 2)", groups: "manager.name")
    #expect(
      groups.description(in: model).map { "\($0.name) \($0.type)" }
        == [
          "manager.name string", "@count integer", "@sum.salary decimal", "mean age double", "@max(age * 2) integer",
        ])
    #expect(!groups.hasRowPerObject)
    #expect(try !parse("name", distinct: true).hasRowPerObject)
    #expect(try parse("@count").isGrouped)
  }

  @Test(arguments: [
    ("", "", "", "the properties can't be read at column 1: properties are expected"),
    ("name, nope", "", "", "the properties can't be read at column 7: Person has no property \"nope\""),
    ("name, name", "", "", "column 7: there is already a column name: add AS with another name"),
    ("name AS", "", "", "column 8: a name is expected after AS"),
    ("name name", "", "", "column 6: ',', AS or the end is expected here"),
    ("name,", "", "", "column 6: a value is expected here"),
    ("reports", "", "", "column 1: this path leads to many values"),
    ("@sum", "", "", "column 1: @sum needs a property after it: @sum.NAME"),
    ("@sum.name", "", "", "column 1: @sum needs numbers"),
    ("@count.name", "", "", "column 1: nothing can follow @count"),
    ("@median.age", "", "", "column 1: @median is not known; there are @count, @min, @max, @sum and @avg"),
    ("@max.active", "", "", "column 1: @max needs values that have an order"),
    ("@sum.reports.age", "", "", "column 1: this path leads to many values"),
    ("@count, name", "level", "", "column 9: name is neither an aggregate"),
    ("@count, name", "", "", "column 9: name is neither an aggregate"),
    ("@count", "level, nope", "", "the values to group by can't be read at column 8: Person has no property"),
    ("@count", "@sum.age", "", "the values to group by can't be read at column 1: an aggregate summarizes a group"),
    ("@count", "level", "-nope", "the order can't be read at column 1: groups and distinct rows are ordered by"),
    ("@count", "level", "@count[loud]", "the order can't be read at column 1: there is no order \"loud\""),
    (Array(repeating: "age", count: 101).joined(separator: ","), "", "", "column 5: there is already a column age"),
    ((0...100).map { "\($0)" }.joined(separator: ","), "", "", "more than 100 columns"),
    ("@count", (0...16).map { "\($0)" }.joined(separator: ","), "", "more than 16 values to group by"),
    ("age AS \"\(String(repeating: "x", count: 201))\"", "", "", "column 1: a column's name can have at most"),
  ])
  func syntaxErrorReportsItsPosition(properties: String, groups: String, order: String, words: String) throws {
    let error = #expect(throws: FetchSyntaxError.self) {
      try parse(properties, groups: groups, order: order)
    }
    #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
  }

  @Test func cursorRoundTripsOrIsRefused() throws {
    let model = try Fixtures.company()
    let person = try #require(model.entity(named: "Person"))
    var image = ObjectImage(
      id: ObjectID(key: UniqueID(high: 5, low: 7), entity: person.number), revision: 1,
      values: person.storedProperties.map { $0.relationship?.storage == .members ? .objects([]) : .null })
    let slot = try #require(person.property(named: "age")?.slot)
    image.values[slot] = .integer(7)
    let sort = try [SortKey](parsing: "-age,bio[natural]", entity: person, model: model)
    let cursor = try FetchCursor(behind: image, of: person.number, sort: sort, model: model, in: NoImageSource())
    #expect(try FetchCursor(bytes: cursor.bytes) == cursor)
    #expect(cursor.values == [.integer(7), .null])
    for index in cursor.bytes.indices {
      var bytes = cursor.bytes
      bytes[index] ^= 1
      #expect(throws: Refusal.self) { try FetchCursor(bytes: bytes) }
      #expect(throws: Refusal.self) { try FetchCursor(bytes: Array(cursor.bytes[..<index])) }
    }
  }

  @Test func fetchShapeContainsNoConstants() throws {
    let model = try Fixtures.company()
    let person = try #require(model.entity(named: "Person"))
    let predicate = try GraphPredicate(
      parsing: "age IN {1, 2} AND name == \"secret\" AND length(bio) + 5 > 3 AND manager == NULL", entity: person,
      model: model)
    #expect(
      predicate.textWithoutConstants(in: model)
        == "age IN {?} AND name == ? AND length(bio) + ? > ? AND manager == NULL")
  }
}
