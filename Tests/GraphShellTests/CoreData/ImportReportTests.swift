import GraphModel
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

  @Test func longListIsCut() {
    var report = ImportReport()
    for number in 1...5_000 { report.skip(key(Int64(number)), "Car", "no") }
    #expect(report.lines.count == ImportReport.maximumLines + 1)
    #expect(report.lines.last == "… and 4900 more")
    #expect(report.entries.count == ImportReport.maximumEntries && report.skippedCount == 5_000)
  }
}
