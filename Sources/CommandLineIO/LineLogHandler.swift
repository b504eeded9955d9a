// Tests: LineLogHandlerTests.swift
import GraphModel
import Logging

/// Writes each event of a log as exactly one line, as `StreamLogHandler` does, and makes its texts safe.
///
/// Fields and messages quote texts of clients: names of authors and objects, addresses, parts of requests. Such a text
/// can't end the line, send the terminal a command, imitate another field, show the secret of a token, or push the
/// message off the line: it is escaped, put in quotation marks if it has a space, and cut. The handler does so for all
/// events, because a place that logs can forget it.
package struct LineLogHandler: LogHandler {
  /// The maximum length of a message and of each field, in Unicode scalars before they are escaped.
  package static let maximumScalars = 4_096

  private var lines: StreamLogHandler
  package var metadataProvider: Logger.MetadataProvider?
  package var metadata = Logger.Metadata() {
    didSet { lines.metadata = Self.fields(metadata) }
  }

  /// - Parameter lines: writes the lines; its own metadata and its provider are not escaped, so it should have none.
  package init(_ lines: StreamLogHandler) { self.lines = lines }

  package var logLevel: Logger.Level {
    get { lines.logLevel }
    set { lines.logLevel = newValue }
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    var fields = Logger.Metadata()
    if let metadataProvider { fields = metadataProvider.get() }
    if let own = event.metadata { fields.merge(own) { $1 } }
    if let error = event.error {
      fields["error.message"] = "\(error)"
      fields["error.type"] = "\(String(reflecting: type(of: error)))"
    }
    var event = event
    event.message = "\(Self.line(event.message.description))"
    event.metadata = Self.fields(fields)
    event.error = nil
    lines.log(event: event)
  }

  // MARK: - Texts

  private static func fields(_ metadata: Logger.Metadata) -> Logger.Metadata {
    metadata.mapValues { .string(field("\($0)")) }
  }

  /// Judges scalars, because a mark after a space or a quotation mark makes another character of it.
  private static func field(_ text: String) -> String {
    // Doubled before the text is escaped, so that a backslash of the text is none of an escape.
    var doubled = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { doubled.append(contentsOf: scalar == "\\" ? [scalar, scalar] : [scalar]) }
    let line = line(String(doubled))
    let hasBackslash = text.unicodeScalars.contains("\\")
    let needsQuotation =
      hasBackslash || line.unicodeScalars.contains { $0 == "\"" || $0 == "=" || $0.properties.isWhitespace }
    guard needsQuotation || line.isEmpty else { return line }
    var quoted = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in line.unicodeScalars {
      if scalar == "\"" { quoted.append("\\") }
      quoted.append(scalar)
    }
    quoted.append("\"")
    return String(quoted)
  }

  private static func line(_ text: String) -> String {
    // A truncated token is redacted as well, so the cut can come first.
    let beginning = text.unicodeScalars.prefix(maximumScalars)
    let line = TokenSecret.redacted(String(beginning)).escapedForLine
    return beginning.endIndex < text.endIndex ? "\(line)…" : line
  }
}
