import Foundation
import GraphModel
import GraphStore
import GraphStoreTools
import StickiesModel

/// Loads the model that the daemon serves, and its earlier versions.
enum ModelSource {
  /// Loads the newest version.
  static func load(folder: String?) throws -> Model {
    try invariant(try versions(folder: folder).last, "a model has a version")
  }

  /// Loads the version for a tool that works on the file of a store. For the built-in model this is the version of the
  /// store, because only the next start of the daemon migrates the store.
  /// - Parameter path: the path of the file, of a store or a backup.
  static func load(folder: String?, forStoreAt path: String) throws -> Model {
    let models = try versions(folder: folder)
    let newest = try invariant(models.last, "a model has a version")
    guard folder == nil, let hash = StoredModel.hash(inStoreAt: path) else { return newest }
    return models.last { $0.hash == hash } ?? newest
  }

  /// Loads and validates all versions, oldest first.
  static func versions(folder: String?) throws -> [Model] {
    guard let folder else { return StickiesModel.versions }
    guard let files = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      throw StoreFailure(
        .inputOutput, "the folder \(folder) does not exist or can't be read",
        advice: "Give --schema a folder of model files: 1.json, 2.json and so on.")
    }
    // Ignores names such as 01.json, because their precedence over 1.json would be a guess.
    let numbers = files.compactMap { file in
      Int(file.dropLast(".json".count)).flatMap { "\($0).json" == file ? $0 : nil }
    }.sorted()
    guard !numbers.isEmpty else { throw missing(folder) }
    var models = [Model]()
    var mistakes = [String]()
    for number in numbers {
      let path = "\(folder)/\(number).json"
      guard let bytes = FileManager.default.contents(atPath: path) else {
        throw StoreFailure(
          .inputOutput, "the model \(path) can't be read", advice: "Give this user the right to read it.")
      }
      do {
        models.append(try Model(parsing: bytes))
      } catch {
        let count = error.mistakes.count
        mistakes.append("the model \(path) has \(count) mistake\(count == 1 ? "" : "s"):\n\(error)\n")
      }
    }
    guard mistakes.isEmpty else {
      throw StoreFailure(
        .modelDiffers, mistakes.joined(separator: "\n"), advice: "docs/model-format.md describes the format.")
    }
    for (number, model) in zip(numbers, models) where model.version != number {
      throw StoreFailure(
        .modelDiffers, "the model \(folder)/\(number).json says that it is version \(model.version)",
        advice: "Make the version equal to the number in the file's name.")
    }
    for (earlier, model) in zip(models, models.dropFirst()) {
      guard let what = MigrationPlan.undetectedChange(from: earlier, to: model) else { continue }
      throw StoreFailure(
        .modelDiffers,
        "the model \(folder)/\(model.version).json \(what), but its hash is that of version \(earlier.version), so a "
          + "migration would not apply this change",
        advice:
          "Add another change to the version, such as an optional attribute; see docs/model-format.md, Versions.")
    }
    return models
  }

  private static func missing(_ folder: String) -> StoreFailure {
    StoreFailure(
      .inputOutput, "the folder \(folder) holds no model file",
      advice: "Model files are named 1.json, 2.json and so on; the highest number is used.")
  }
}
