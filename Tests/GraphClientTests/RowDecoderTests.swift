import GraphModel
import GraphReplica
import Testing

@testable import GraphClient

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Rows become values of `Decodable` types by the names of their columns; an error names the column.
@Suite struct RowDecoderTests {
  private func row(_ columns: KeyValuePairs<String, Value>) -> FetchedRow {
    FetchedRow(columns: columns.map { RowColumn(name: $0.key, type: "null") }, values: columns.map(\.value))
  }

  private func decimal(_ text: String) -> Value { DecimalValue(text).map { .decimal($0) } ?? .null }

  private func message<Row: Decodable>(_ type: Row.Type, _ row: FetchedRow) -> (column: String, message: String)? {
    do {
      _ = try RowDecoder.decode(type, from: row)
      return nil
    } catch {
      return (error as? RowValueError).map { ($0.column, $0.message) }
    }
  }

  private enum Status: String, Codable { case planned, running }

  private struct Pay: Decodable, Equatable {
    var name: String
    var code: String?
    var yearly: DecimalValue
    var days: Int
  }

  @Test func propertiesAreFoundByTheirNames() throws {
    let columns = row([
      "days": .integer(25), "yearly": decimal("1200.50"), "name": .string("Ann"), "code": .null, "more": .bool(true),
    ])
    let pay = try RowDecoder.decode(Pay.self, from: columns)
    #expect(pay == Pay(name: "Ann", code: nil, yearly: try #require(DecimalValue("1200.50")), days: 25))
  }

  @Test func valuesOfEveryTypeAreDecoded() throws {
    struct Row: Decodable {
      var flag: Bool
      var small: Int8
      var unsigned: UInt64
      var whole: Double
      var half: Float
      var exact: Decimal
      var status: Status
      var link: URL
      var time: Date
      var microseconds: Int64
      var ticket: UUID
      var key: UniqueID
      var photo: Data
      var bytes: [UInt8]
      var owner: ObjectID
    }
    let time = try #require(RFC3339.timestamp("2026-03-01")) + 123_457
    let (key, owner) = (UniqueID(high: 1, low: 2), ObjectID(key: UniqueID(high: 3, low: 4), entity: 5))
    let decoded = try RowDecoder.decode(
      Row.self,
      from: row([
        "flag": .bool(true), "small": .integer(-7), "unsigned": .integer(9), "whole": .integer(3),
        "half": .double(0.5), "exact": decimal("0.1"), "status": .string("running"),
        "link": .string("https://a.example"), "time": .date(time), "microseconds": .date(time), "ticket": .uuid(key),
        "key": .uuid(key), "photo": .data([1, 2]), "bytes": .data([3]), "owner": .object(owner),
      ]))
    #expect(decoded.flag && decoded.small == -7 && decoded.unsigned == 9)
    #expect(decoded.whole == 3 && decoded.half == 0.5 && decoded.exact == Decimal(string: "0.1"))
    #expect(decoded.status == .running && decoded.link.absoluteString == "https://a.example")
    #expect(decoded.microseconds == time)
    #expect((decoded.time.timeIntervalSinceReferenceDate * 1_000_000).rounded() == Double(time - 978_307_200_000_000))
    #expect(decoded.ticket.uuidString.lowercased() == "00000000-0000-0001-0000-000000000002" && decoded.key == key)
    #expect(decoded.photo == Data([1, 2]) && decoded.bytes == [3])
    #expect(decoded.owner == owner && decoded.owner.entity == 5)
  }

  @Test func errorNamesColumn() throws {
    let full: KeyValuePairs<String, Value> = [
      "name": .string("Ann"), "code": .string("ENG"), "yearly": decimal("1"), "days": .string("25"),
    ]
    let mismatch = try #require(message(Pay.self, row(full)))
    #expect(mismatch.column == "days")
    #expect(mismatch.message == "the column days has a text, and the program expects Int")
    let null = try #require(message(Pay.self, row(["name": .null, "code": .null, "yearly": .null, "days": .null])))
    #expect(null.message == "the column name has null, and the program expects String")
    // A misspelled column would otherwise be nil in each row.
    let missing = try #require(
      message(Pay.self, row(["name": .string("Ann"), "kode": .null, "yearly": decimal("1"), "days": .integer(1)])))
    #expect(missing.column == "code")
    #expect(missing.message == "there is no column code, only name, kode, yearly, days: name it with AS code")
  }

  @Test func numberOutsideRangeIsAnError() throws {
    #expect(try RowDecoder.decode(Int8.self, from: row(["days": .integer(127)])) == 127)
    #expect(message(Int8.self, row(["days": .integer(128)]))?.column == "days")
    #expect(message(UInt.self, row(["days": .integer(-1)]))?.column == "days")
    #expect(message(Int.self, row(["days": .double(1)]))?.column == "days")
    #expect(message(Double.self, row(["days": decimal("0.1")]))?.column == "days")
    #expect(message(Double.self, row(["days": .integer(.max)]))?.column == "days")
  }

  @Test func singleColumnIsDecodedAsSingleValue() throws {
    #expect(try RowDecoder.decode(String.self, from: row(["name": .string("Ann")])) == "Ann")
    #expect(try RowDecoder.decode(Status.self, from: row(["status": .string("planned")])) == .planned)
    #expect(try RowDecoder.decode(String?.self, from: row(["name": .null])) == nil)
    struct Name: Decodable { var name: String }
    #expect(try RowDecoder.decode(Name.self, from: row(["name": .string("Ann")])).name == "Ann")
    #expect(message(String.self, row(["a": .null, "b": .null]))?.message.contains("the row has 2") == true)
    #expect(message([String].self, row(["a": .null, "b": .null]))?.message.contains("not as a list") == true)
  }

  @Test func unknownCaseOfEnumerationNamesColumn() throws {
    struct Row: Decodable {
      var status: Status
      var title: String
    }
    let error = message(Row.self, row(["status": .string("paused"), "title": .string("Bridge")]))
    #expect(error?.message == "the column status has a text, and the program expects Status")
  }
}
