import CommandLineIO

/// A progress line on a terminal, overwritten until the end or Ctrl-C.
@MainActor
package final class ProgressLine {
  private let isShown: Bool
  private var isDirty = false
  private var interruption: Interruption?

  /// - Parameter interrupted: the message on Ctrl-C.
  package init(isShown: Bool, interrupted sentence: String? = nil) {
    self.isShown = isShown
    interruption = sentence.map { Interruption($0) }
  }

  package func show(_ text: String) {
    guard isShown else { return }
    isDirty = true
    StandardError.write("\r\u{1B}[K\(TextTable.visible(text))", terminator: "")
  }

  package func end() {
    if isDirty { StandardError.write("\r\u{1B}[K", terminator: "") }
    isDirty = false
    interruption = nil
  }
}
