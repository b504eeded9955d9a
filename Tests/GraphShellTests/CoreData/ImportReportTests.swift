import Foundation
import GraphModel
import GraphTesting
import Testing

@testable import GraphShell

/// The report of an import: bounded, a row once.
@Suite struct ImportReportTests {
  private func key(_ number: Int64) -> ImportMapping.Key { ImportMapping.Key(root: "Car", key: number) }

  @Test func rowAndValueAreListed() {
    var report = ImportReport()
    report.inserted = 2
    report.skip(key(1), "Car", "it is too old")
    report.omit("color", of: key(2), "SportCar", "it is no color")
    #expect(
      report.lines == ["skipped Car 1: it is too old", "imported SportCar (Car) 2 without color: it is no color"])
    #expect(report.summary == "imported 2, changed 0, unchanged 0, skipped 1, incomplete 1")
    let json = JSON.object(report.members)
    #expect(json["skipped"] == .integer(1) && json["incomplete"] == .integer(1))
    #expect(json["problems"]?.arrayValue?.first?["property"] == .null)
    #expect(json["problems"]?.arrayValue?.last?["row"] == .integer(2))
  }

  @Test func skippedRowTakesItsOmittedValuesAlong() {
    var report = ImportReport()
    report.omit("color", of: key(1), "Car", "it is no color")
    report.omit("color", of: key(2), "Car", "it is no color")
    report.skip(key(1), "Car", "a color is required")
    report.skip(key(1), "Car", "twice")
    #expect(report.skippedCount == 1 && report.incompleteCount == 1)
    #expect(
      report.lines == [
        "imported Car 2 without color: it is no color",
        "skipped Car 1: a color is required; color: it is no color",
      ])
  }

  /// The output is cut; a file has every row.
  @Test func longListIsCutButCompleteInAFile() throws {
    var report = ImportReport()
    for number in 1...2_500 {
      report.omit("color", of: key(Int64(number)), "Car", "no color")
      report.omit("size", of: key(Int64(number)), "Car", "no size")
      report.omit("size", of: key(Int64(number)), "Car", "no size")
    }
    report.skip(key(1), "Car", "no")
    #expect(report.lines.count == ImportReport.maximumLines + 1)
    #expect(report.lines.last == "… and 4899 more; --report FILE writes all of them")
    #expect(report.count == 4_999 && report.skippedCount == 1 && report.incompleteCount == 2_499)
    let json = JSON.object(report.members)
    #expect(json["problems"]?.arrayValue?.count == ImportReport.maximumEntries)
    #expect(json["problemCount"] == .integer(4_999))
    let folder = try TemporaryDirectory()
    let path = folder.path + "/report"
    do { try ReportFile(path).write(report.entries) }
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 4_999)
    #expect(lines.last == #"{"entity":"Car","row":1,"property":null,"reason":"no; color: no color; size: no size"}"#)
    let refusal = #expect(throws: Refusal.self) { try ReportFile(path) }
    #expect(refusal?.code == .unavailable)
  }

  @Test func valueOfTheObjectIsNamed() {
    var report = ImportReport()
    report.omit("born", of: key(1), "Car", "it is too early", .other)
    report.omit("size", of: key(1), "Car", "it is too large", .earlier)
    #expect(
      report.lines == [
        "imported Car 1 with another born: it is too early", "imported Car 1 with the earlier size: it is too large",
      ])
  }
}
