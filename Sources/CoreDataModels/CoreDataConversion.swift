import GraphModel

/// The conversion of a Core Data model to model files, with a report of every difference.
///
/// Each version was loaded as a daemon would load it, and the inference of migrations has checked each pair of
/// consecutive versions.
public struct CoreDataConversion: Sendable {
  /// A converted version.
  public struct Version: Sendable {
    /// The number, from 1, which is the name of the file: `2.json`.
    public let number: Int
    /// The version's name in the bundle: `App 2`.
    public let sourceName: String
    /// Whether the app uses it.
    public let isCurrent: Bool
    /// The version as its `contents` describes it.
    public let source: CoreDataModel
    /// The text of the model file.
    public let text: String
    /// The model that the text describes.
    public let model: Model
    /// The converted entities, in the names of both models.
    public let entities: [Entity]

    /// The converted entity of that name in the Core Data model; nil if there is none.
    public func entity(named source: String) -> Entity? { entities.first { $0.source == source } }

    /// Whether a store that was created with a model file is one of this version. The file may have another
    /// documentation, or other rules.
    public func isStored(as file: some Collection<UInt8>) -> Bool {
      (try? Model(parsing: file))?.hash == model.hash
    }
  }

  /// A converted entity.
  public struct Entity: Sendable {
    /// The name in the Core Data model.
    public let source: String
    /// The name in the converted model.
    public let name: String
    /// The attributes and relationships that it declares, without those that were left out.
    public let properties: [Property]
  }

  /// A converted attribute or relationship.
  public struct Property: Sendable {
    /// The name in the Core Data model; nil for an inverse that was added.
    public let source: String?
    /// The name in the converted model.
    public let name: String
    /// The type of an attribute in the Core Data model, as Xcode writes it; nil for a relationship.
    public let type: String?
  }

  /// The name of the converted model.
  public let name: String
  /// The versions, oldest first.
  public let versions: [Version]
  /// Every difference, by version and line.
  public let findings: [ConversionFinding]

  /// The version that the app uses; the newest, if the bundle does not state it.
  public var current: Version {
    if let current = versions.first(where: \.isCurrent) { current } else { versions[versions.count - 1] }
  }

  /// Converts a model.
  /// - Parameters:
  ///   - name: the name of the converted model; by default the bundle's.
  ///   - order: the names of all versions, oldest first; by default the names and contents of the versions give it.
  ///   - existing: the model files that earlier conversions have made of the first versions, by number. Their names
  ///     stay; a file with a mistake counts as missing.
  public init(
    _ bundle: CoreDataBundle, name: String? = nil, order: [String]? = nil, existing: [Int: [UInt8]] = [:]
  ) throws(CoreDataModelError) {
    guard !bundle.versions.isEmpty else {
      throw CoreDataModelError(bundle.path, nil, "the bundle has no version")
    }
    let stated = try order.map { names throws(CoreDataModelError) in try Self.places(of: names, in: bundle) }
    var readers = [CoreDataModelReader]()
    for version in bundle.versions { readers.append(try CoreDataModelReader(version.bytes, file: version.file)) }
    let inferred = VersionOrder(of: bundle, readers.map(\.model))
    let places = if let stated { stated } else { inferred.places }
    let ordered = places.map { bundle.versions[$0] }
    let sources = places.map { readers[$0].model }
    var (drafts, logs) = ([VersionDraft](), [SourceLog]())
    for (index, place) in places.enumerated() {
      var log = readers[place].log
      drafts.append(VersionConverter.convert(sources[index], number: index + 1, name: ordered[index].name, &log))
      logs.append(log)
    }
    let given = existing.compactMapValues { try? Model(parsing: $0) }.mapValues { GivenNames($0) }
    let names = NameTable(model: name ?? bundle.name, versions: drafts, given: given)
    for index in drafts.indices {
      Self.reportNames(of: drafts[index], names, &logs[index])
      var loader = DraftLoader(drafts[index], names, logs[index])
      try loader.repair()
      (drafts[index], logs[index]) = (loader.draft, loader.log)
    }
    var linker = VersionLinker(drafts, logs, names)
    let files = try linker.run()
    precondition(files.count == ordered.count, "each version has a model file")
    let converted = linker
    versions = ordered.indices.map { index in
      let (version, draft) = (ordered[index], converted.drafts[index])
      return Version(
        number: draft.number, sourceName: version.name,
        isCurrent: ordered.count == 1 || version.name == bundle.current, source: sources[index],
        text: files[index].text, model: files[index].model,
        entities: draft.entities.map { Self.entity($0, draft.number, converted.names) })
    }
    self.name = names.model
    let lines = linker.logs.flatMap { $0.findings.sorted { $0.place < $1.place } }
    let about = Self.findings(about: bundle, ordered.map(\.name), name: name ?? bundle.name, converted: names.model)
    let guess = stated == nil ? inferred.guess : nil
    findings = about + [guess].compactMap { $0 }.map { Self.finding(about: bundle, .changed, $0) } + lines
  }

  /// The name of the converted model of that name.
  public static func convertedName(_ name: String) -> String { NameTable.valid(name) }

  /// The places of the versions with these names.
  private static func places(of names: [String], in bundle: CoreDataBundle) throws(CoreDataModelError) -> [Int] {
    let places = names.compactMap { name in bundle.versions.firstIndex { $0.name == name } }
    guard places.count == names.count, Set(places).count == bundle.versions.count, places.count == Set(places).count
    else {
      throw CoreDataModelError(
        bundle.path, nil,
        "the stated order is \(names.joined(separator: ", ")), but the versions are "
          + "\(bundle.versions.map(\.name).joined(separator: ", ")); name each of them once")
    }
    return places
  }

  private static func entity(_ draft: EntityDraft, _ number: Int, _ names: NameTable) -> Entity {
    let attributes = draft.attributes.map {
      Property(
        source: $0.source, name: names.property($0.source, of: draft.source, in: number), type: $0.sourceType)
    }
    let relationships = draft.relationships.map {
      Property(
        source: $0.isAdded ? nil : $0.source, name: names.property($0.source, of: draft.source, in: number), type: nil)
    }
    return Entity(
      source: draft.source, name: names.entity(draft.source, in: number), properties: attributes + relationships)
  }

  // MARK: - Findings

  /// Reports the names that a model file does not allow.
  private static func reportNames(of draft: VersionDraft, _ names: NameTable, _ log: inout SourceLog) {
    func report(_ place: SourcePlace, _ subject: String, _ source: String, _ name: String) {
      if name == source { return }
      let reason =
        names.isGiven(draft.number) ? "as in its existing file" : "because a model file does not allow the name here"
      log.add(.renamed, place, subject, "is called \(name), \(reason)")
    }
    // Entities, composites and fetch requests of all versions have different names.
    func reportShared(_ place: SourcePlace, _ source: String, _ name: String) {
      guard name != source, name.hasPrefix(source + "_") else { return report(place, source, source, name) }
      log.add(
        .renamed, place, source, "is called \(name), because another part of the bundle has this name, ignoring case")
    }
    // A model file allows these names, and Swift does not.
    func reportType(_ place: SourcePlace, _ source: String, _ name: String) {
      if ["Any", "Self"].contains(name) {
        log.add(.changed, place, source, "graph-classes can't generate it, because Swift reserves \(name)")
      } else if name == "\(names.model)Model" {
        let reason = "the type of the whole model has this name: give the model another one with --name"
        log.add(.changed, place, source, "graph-classes can't generate it, because \(reason)")
      }
    }
    for entity in draft.entities {
      let name = names.entity(entity.source, in: draft.number)
      reportShared(entity.place, entity.source, name)
      reportType(entity.place, entity.source, name)
      for attribute in entity.attributes {
        let name = names.property(attribute.source, of: entity.source, in: draft.number)
        report(attribute.place, "\(entity.source).\(attribute.source)", attribute.source, name)
      }
      for relationship in entity.relationships where !relationship.isAdded {
        let name = names.property(relationship.source, of: entity.source, in: draft.number)
        report(relationship.place, "\(entity.source).\(relationship.source)", relationship.source, name)
      }
    }
    for composite in draft.composites {
      reportShared(composite.place, composite.source, names.composite(composite.source))
      reportType(composite.place, composite.source, names.composite(composite.source))
      for attribute in composite.attributes {
        let name = names.member(attribute.source, of: composite, in: draft.number)
        report(attribute.place, "\(composite.source).\(attribute.source)", attribute.source, name)
      }
    }
    for request in draft.fetchRequests {
      reportShared(request.place, request.source, names.fetchRequest(request.source))
    }
  }

  private static func finding(
    about bundle: CoreDataBundle, _ kind: ConversionFinding.Kind, _ text: String
  ) -> ConversionFinding {
    ConversionFinding(kind: kind, file: bundle.path, place: .start, subject: "", text: text)
  }

  private static func findings(
    about bundle: CoreDataBundle, _ versions: [String], name: String, converted: String
  ) -> [ConversionFinding] {
    func finding(_ kind: ConversionFinding.Kind, _ text: String) -> ConversionFinding {
      Self.finding(about: bundle, kind, text)
    }
    var findings = bundle.others.map { finding(.leftOut, "\($0): it is not a version of the model") }
    if name != converted {
      findings.append(
        finding(.renamed, "the model is called \(converted), because a model file does not allow \(name)"))
    }
    guard versions.count > 1 else { return findings }
    let newest = versions[versions.count - 1]
    guard let current = bundle.current else {
      findings.append(
        finding(.changed, "the bundle does not state its current version: a daemon serves the highest, \(newest)"))
      return findings
    }
    if current != newest {
      let later = versions.drop { $0 != current }.dropFirst()
      findings.append(
        finding(
          .changed,
          "the current version is \(current), but a daemon serves the highest, \(newest): to serve \(current), delete the files "
            + "of \(later.joined(separator: ", "))"))
    }
    return findings
  }
}
