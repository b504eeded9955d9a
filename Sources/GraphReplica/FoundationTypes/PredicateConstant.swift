// Tests: FoundationTypesTests.swift
import GraphModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A constant of a type by which generated classes represent an attribute, in a typed predicate: `$0.due < Date.now`,
/// `$0.number == count`.
public protocol PredicateConstant {
  /// The kind of the attributes that it can be compared with.
  associatedtype Kind: PropertyKind
  /// The constant as predicates hold it.
  var predicateValue: Value { get }
}

extension Int: PredicateConstant {
  public typealias Kind = Int64
  public var predicateValue: Value { .integer(Int64(self)) }
}

extension Date: PredicateConstant {
  public typealias Kind = DateTime
  public var predicateValue: Value { attributeValue }
}

extension UUID: PredicateConstant {
  public typealias Kind = UniqueID
  public var predicateValue: Value { attributeValue }
}

extension Data: PredicateConstant {
  public typealias Kind = [UInt8]
  public var predicateValue: Value { attributeValue }
}

extension Decimal: PredicateConstant {
  public typealias Kind = DecimalValue
  public var predicateValue: Value { attributeValue }
}

extension URL: PredicateConstant {
  public typealias Kind = String
  public var predicateValue: Value { attributeValue }
}

extension TypedExpression {
  private func comparing(_ comparator: GraphPredicate.Comparator, constant: some PredicateConstant) -> TypedPredicate {
    let value = constant.predicateValue
    return comparing(comparator) { _ in .value(value) }
  }

  /// Equal to the value.
  public static func == <Constant: PredicateConstant>(left: Self, right: Constant) -> TypedPredicate
  where Constant.Kind == Kind { left.comparing(.equal, constant: right) }

  /// Different from the value, or null.
  public static func != <Constant: PredicateConstant>(left: Self, right: Constant) -> TypedPredicate
  where Constant.Kind == Kind { left.comparing(.notEqual, constant: right) }

  /// Equal to one of the values; false for an empty sequence. Disfavored, because a range is a sequence too.
  @_disfavoredOverload
  public func isIn<Constant: PredicateConstant>(_ values: some Sequence<Constant>) -> TypedPredicate
  where Constant.Kind == Kind {
    let list = values.map(\.predicateValue)
    return comparing(.in) { _ in .list(list) }
  }
}

extension TypedExpression where Kind: OrderedKind {
  /// Less than the value.
  public static func < <Constant: PredicateConstant>(left: Self, right: Constant) -> TypedPredicate
  where Constant.Kind == Kind { left.comparing(.less, constant: right) }

  /// At most the value.
  public static func <= <Constant: PredicateConstant>(left: Self, right: Constant) -> TypedPredicate
  where Constant.Kind == Kind { left.comparing(.lessOrEqual, constant: right) }

  /// Greater than the value.
  public static func > <Constant: PredicateConstant>(left: Self, right: Constant) -> TypedPredicate
  where Constant.Kind == Kind { left.comparing(.greater, constant: right) }

  /// At least the value.
  public static func >= <Constant: PredicateConstant>(left: Self, right: Constant) -> TypedPredicate
  where Constant.Kind == Kind { left.comparing(.greaterOrEqual, constant: right) }

  /// Not less than `low` and not greater than `high`.
  public func isBetween<Constant: PredicateConstant>(_ low: Constant, _ high: Constant) -> TypedPredicate
  where Constant.Kind == Kind {
    let ends = [low.predicateValue, high.predicateValue]
    return comparing(.between) { _ in .list(ends) }
  }

  /// In the range, both ends included.
  public func isIn<Constant: PredicateConstant & Comparable>(_ range: ClosedRange<Constant>) -> TypedPredicate
  where Constant.Kind == Kind { isBetween(range.lowerBound, range.upperBound) }
}
