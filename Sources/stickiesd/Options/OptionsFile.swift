import Configuration
import Foundation
import GraphHTTP
import GraphModel
import GraphWire
import Logging

/// The configuration file: a JSON object whose keys are the options.
///
/// The file is validated completely when it is loaded. All unknown keys and invalid values are reported at once with
/// the file's name, and the daemon does not start: an option without effect is worse than none.
struct OptionsFile: FileConfigSnapshot {
  struct ParsingOptions: FileParsingOptions {
    /// The file's path, for error messages.
    var path = ""
    static let `default` = ParsingOptions()
  }

  private enum Key: String, CaseIterable {
    case data, schema, listen, logLevel, searchSeconds, keepHistory, minimumRetention, pruneEvery, certificate, key
    case insecure, http, publicURL, metrics

    var expected: String {
      switch self {
      case .data: "a string, the data directory"
      case .schema: "a string, a folder of model files"
      case .listen: "a list of addresses, each \(ServerAddress.forms)"
      case .logLevel: "one of \(Logger.Level.names)"
      case .searchSeconds:
        "a number of seconds, \(Settings.searchSecondsRange.lowerBound) to \(Settings.searchSecondsRange.upperBound)"
      case .keepHistory: HistoryRetention.expected
      case .minimumRetention: DurationOption.expected
      case .pruneEvery: DurationOption.expectedPeriod
      case .certificate, .key: "a string, a file in PEM"
      case .insecure: "true or false"
      case .http, .metrics: HTTPSettings.expectedAddress
      case .publicURL: HTTPSettings.expectedURL
      }
    }

    /// The value for lookups; nil when it is not valid for the option.
    func content(_ json: JSON) -> ConfigContent? {
      switch self {
      case .data, .schema, .certificate, .key: json.stringValue.flatMap { $0.isEmpty ? nil : .string($0) }
      case .logLevel: json.stringValue.flatMap { Logger.Level(rawValue: $0) }.map { .string($0.rawValue) }
      case .searchSeconds:
        json.integerValue.flatMap { Int(exactly: $0) }
          .flatMap { Settings.searchSecondsRange.contains($0) ? .string("\($0)") : nil }
      case .keepHistory:
        (json.stringValue ?? json.integerValue.map { "\($0)" }).flatMap {
          HistoryRetention($0) == nil ? nil : .string($0)
        }
      case .minimumRetention: json.stringValue.flatMap { DurationOption($0) == nil ? nil : .string($0) }
      case .insecure: if case .bool(let value) = json { .string(value ? "true" : "false") } else { nil }
      case .http, .metrics: json.stringValue.flatMap { HTTPSettings.parse($0) == nil ? nil : .string($0) }
      case .publicURL: json.stringValue.flatMap { PublicURL(parsing: $0) == nil ? nil : .string($0) }
      case .pruneEvery: json.stringValue.flatMap { DurationOption($0)?.isPeriod == true ? .string($0) : nil }
      case .listen:
        json.arrayValue.flatMap { items in
          let texts = items.compactMap(\.stringValue).filter { (try? ServerAddress(parsing: $0)) != nil }
          return texts.isEmpty || texts.count < items.count ? nil : .stringArray(texts)
        }
      }
    }
  }

  let providerName: String
  private let values: [String: ConfigContent]

  init(data: RawSpan, providerName: String, parsingOptions: ParsingOptions) throws {
    let path = parsingOptions.path
    let document: JSON
    do {
      document = try JSON(parsing: data.withUnsafeBytes { Array($0) })
    } catch {
      throw OptionsError(description: "\(path): \(error)")
    }
    guard let members = document.members else {
      throw OptionsError(description: "\(path): an object with options is expected, such as {\"data\": \"/srv/notes\"}")
    }
    var values = [String: ConfigContent]()
    var mistakes = [String]()
    for member in members {
      if let key = Key(rawValue: member.name) {
        values[member.name] = key.content(member.value)
        if values[member.name] == nil {
          mistakes.append("\(path): \"\(member.name)\" is \(member.value.text); it must be \(key.expected)")
        }
      } else {
        let names = Key.allCases.map(\.rawValue).joined(separator: ", ")
        mistakes.append("\(path): \"\(member.name)\" is not an option; the options are \(names)")
      }
    }
    guard mistakes.isEmpty else { throw OptionsError(description: mistakes.joined(separator: "\n")) }
    self.providerName = providerName
    self.values = values
  }

  func value(forKey key: AbsoluteConfigKey, type: ConfigType) -> LookupResult {
    let name = key.components.joined(separator: ".")
    return LookupResult(encodedKey: name, value: values[name].map { ConfigValue($0, isSecret: false) })
  }

  var description: String { "\(providerName)[\(values.count) values]" }
  var debugDescription: String { description }

  /// Reads the given file, or the default file. A given file must exist.
  static func provider(_ wanted: String?, otherwise usual: String) async throws -> FileProvider<OptionsFile>? {
    let path = wanted ?? usual
    guard access(path, R_OK) == 0 else {
      if wanted == nil, errno == ENOENT || errno == ENOTDIR { return nil }
      throw OptionsError(
        description: "the configuration file \(path) can't be read (\(String(cString: strerror(errno))))")
    }
    do {
      return try await FileProvider(parsingOptions: ParsingOptions(path: path), filePath: .init(path))
    } catch let error as OptionsError {
      throw error
    } catch {
      throw OptionsError(description: "the configuration file \(path) can't be read (\(error))")
    }
  }
}
