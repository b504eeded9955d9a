import Foundation
import GraphTesting
import Testing

/// Manual pages are generated from the programs' own help.
@Suite struct ManualTests {
  @Test func everyCommandHasAValidManualPage() throws {
    let daemon = try Daemon()
    let folder = daemon.home.path + "/man"
    let script = """
      '\(Fixtures.root)/scripts/manuals' '\(folder)' '\(Daemon.binary("stickies").path)'
      command -v groff >/dev/null || exit 0
      for page in '\(folder)'/*.1; do groff -man -ww -Tutf8 "$page" 2>&1 >/dev/null; done
      """
    let result = try BackgroundProcess(daemon, ["-c", script], program: "/bin/sh").end()
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.lines.count == 1, "\(result.output)")
    let page = try String(contentsOfFile: folder + "/stickies-board-add.1", encoding: .utf8)
    for part in [".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH EXAMPLES", "stickies board add Work"] {
      #expect(page.contains(part), "\(part)")
    }
    #expect(!FileManager.default.fileExists(atPath: folder + "/stickies-complete.1"))
  }
}
