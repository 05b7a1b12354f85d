// The sizes, modes, contexts and binary models of predicted blocks.
// Source: sections "Blocks", "Modes" and "Levels" of docs/format/format.md.
#pragma once

#include "shared/integers.h"

namespace mmp {

constexpr int kMinSideLog2 = 2, kMaxSideLog2 = 6;
constexpr int kUnitLog2 = kMinSideLog2;  // a unit is 4x4 samples
constexpr int kUnit = 1 << kUnitLog2;
constexpr int kMaxSide = 1 << kMaxSideLog2;
constexpr int kMaxBlockArea = kMaxSide * kMaxSide;
constexpr int kSides = kMaxSideLog2 - kMinSideLog2 + 1;
constexpr int kShapes = kSides * kSides;
constexpr int kSizes = 2 * kSides - 1;  // number of block areas: 16, 32, ... 4096 samples
constexpr int kCodedSideLog2 = 5;  // only the 32 lowest frequencies of each side are coded
constexpr int kCodedSide = 1 << kCodedSideLog2;
constexpr int kMaxCoded = kCodedSide * kCodedSide;

// A block is 2^a samples high and 2^b wide.
MMP_HD constexpr int shape_number(int a, int b) {
    return (a - kMinSideLog2) * kSides + b - kMinSideLog2;
}
MMP_HD constexpr int size_of(int a, int b) { return a + b - 2 * kMinSideLog2; }

enum Mode { kConstant, kAverage, kPlanar, kFirstAngle };
constexpr int kAngles = 33;
constexpr int kTemplates = kFirstAngle + kAngles;
constexpr int kModes = kTemplates + 1;
// Modes from earlier planes (cross-component prediction). They have binary models of their own,
// which are coded before the modes above.
constexpr int kCrossComponent = kModes, kWideCrossComponent = kCrossComponent + 1, kAllModes = kWideCrossComponent + 1;
MMP_HD constexpr bool from_planes(int mode) { return mode >= kCrossComponent; }
constexpr int kMostPlanes = 2;  // most earlier planes that predict a plane
constexpr int kHorizontal = 8, kFirstVertical = 16, kVertical = 24;  // numbers of angles

MMP_HD constexpr int angle_of(int mode) {
    return mode >= kFirstAngle && mode < kFirstAngle + kAngles ? mode - kFirstAngle : -100;
}

// Size, mode and kind of the block that covers a 4x4 unit; all 0 before the unit is decoded.
struct Unit {
    uint8_t a = 0, b = 0, mode = 0, kind = 0;
    MMP_HD bool known() const { return a != 0; }
};

// Contexts from the units above and left of the first sample of a block.
MMP_HD constexpr int split_context(int a, int b, const Unit& above, const Unit& left) {
    return (above.a && above.a + above.b < a + b) + (left.a && left.a + left.b < a + b);
}
MMP_HD constexpr int direction_context(int a, int b, const Unit& above, const Unit& left) {
    const bool narrower = above.a && above.b < b, lower = left.a && left.a < a;
    return narrower == lower ? 0 : narrower ? 1 : 2;
}
enum Kind { kBare, kTransformed, kTree };
constexpr int kTreeMode = kConstant;  // stands for a tree in the contexts of its neighbours
constexpr int kMaxTreeLog2 = 4;
MMP_HD constexpr int kind_context(const Unit& above, const Unit& left) {
    return (above.kind == kTransformed) + (left.kind == kTransformed);
}
MMP_HD constexpr int tree_context(const Unit& above, const Unit& left) {
    return (above.kind == kTree) + (left.kind == kTree);
}
// Returns a neighbour's mode as it enters the list of likely modes: planar replaces modes from
// earlier planes.
MMP_HD constexpr int listed_mode(int mode) { return from_planes(mode) ? int(kPlanar) : mode; }
// Modes of the neighbours left and above. The far ones are left of the last row and above the last
// column; their angles count for the frequencies of the other modes.
struct LikelyModes {
    int left, above, far_left = kPlanar, far_above = kPlanar;
};
MMP_HD constexpr LikelyModes likely_modes(const Unit& above, const Unit& left,
                                          const Unit& far_above, const Unit& far_left) {
    const int upper = above.a ? listed_mode(above.mode) : int(kPlanar);
    const int beside = left.a ? listed_mode(left.mode) : upper;
    return {beside, above.a ? upper : beside, far_left.mode, far_above.mode};
}
MMP_HD constexpr int planes_context(const Unit& above, const Unit& left) {
    return from_planes(above.mode) + from_planes(left.mode);
}

// Template matching: width of a template, and extent of the search area above and left of a block,
// in samples.
constexpr int kTemplateWidth = 2;
constexpr int kTemplateRows = 32, kTemplateColumns = 32;
constexpr int kTemplateSteps = 8;  // samples of a template along a side, the corner excluded
constexpr int kTemplateSamples = kTemplateWidth * (kTemplateWidth + 2 * kTemplateSteps);
constexpr int kMostTemplates = 4;
// Distance of the samples that a template has along a side of a block.
MMP_HD constexpr int template_step(int side) { return larger(1, side / kTemplateSteps); }
// The largest error of a place in the average, given the least error.
MMP_HD constexpr int32_t furthest_template(int32_t least, int height, int width) {
    return least + least / 2 + 2 * (height + width);
}

// Families of modes with similar residuals; the modes of a family share the contexts of the
// transform type.
enum Family { kSmooth, kAcross, kDown, kOther };
constexpr int kFamilies = 4;
MMP_HD constexpr int family_of(int mode) {
    if (mode < kFirstAngle) return kSmooth;
    if (mode >= kTemplates) return kOther;
    return mode - kFirstAngle < kFirstVertical ? kAcross : kDown;
}

enum TransformType { kCosine, kSine, kTrained, kTransformSkip, kTransformTypes };
constexpr int kMaxSineLog2 = 4;
MMP_HD constexpr bool sine_allowed(int a, int b) { return a <= kMaxSineLog2 && b <= kMaxSineLog2; }

// Index of the first binary model in each group of models.
constexpr int kNeighbourContexts = 3;
constexpr int kPlaces = 4, kSums = 6, kLargeSums = 5, kAreas = 4;
constexpr int kLastSizes = 2 * kSides - 1, kLastGroups = 12, kRemainders = 12, kMostRemainder = 15;
constexpr int kSplitModels = 0;
constexpr int kDirectionModels = kSplitModels + kShapes * kNeighbourContexts;
constexpr int kLikelyModels = kDirectionModels + kShapes * kNeighbourContexts;
constexpr int kKindModels = kLikelyModels + kSizes * 3;
constexpr int kTypeModels = kKindModels + kSizes * kNeighbourContexts;
constexpr int kLastModels = kTypeModels + kAreas * kFamilies;
constexpr int kLastBitModels = kLastModels + kLastSizes * kLastGroups;
constexpr int kZeroModels = kLastBitModels + kLastGroups;
constexpr int kOneModels = kZeroModels + kAreas * kPlaces * kSums;
constexpr int kTwoModels = kOneModels + 2 * 3 * kLargeSums;
constexpr int kRemainderModels = kTwoModels + 2 * 3 * kLargeSums;
constexpr int kTreeModels = kRemainderModels + 2 * kRemainders;
constexpr int kBitModels = kTreeModels + kSizes * kNeighbourContexts;
// Level models of the second quantiser, in the order of the first quantiser's.
constexpr int kSecondModels = kBitModels;
constexpr int kSecondCount = kRemainderModels - kZeroModels;
// Level models with fine contexts, for both quantisers; remainders share models.
constexpr int kQuantisers = 2;
constexpr int kFrequencies = 8, kSumClasses = 8, kDirections = 3, kRemainderPlaces = 3;
constexpr int kFineZeroModels = kSecondModels + kSecondCount;
constexpr int kFineOneModels =
    kFineZeroModels + kQuantisers * kDirections * kFrequencies * kSumClasses;
constexpr int kFineTwoModels = kFineOneModels + kQuantisers * kFrequencies * kSumClasses;
constexpr int kFineRemainderModels = kFineTwoModels + kQuantisers * kFrequencies * kSumClasses;
constexpr int kTrainedTypeModels =
    kFineRemainderModels + kRemainderPlaces * kSumClasses * kRemainders;
constexpr int kTernaryModels = kTrainedTypeModels + kAreas * kFamilies;
constexpr int kTrainedModels = kTernaryModels + 2 * kShapes;
// Models without trained initial states.
constexpr int kPlanesModels = kTrainedModels;
constexpr int kWideCrossComponentModels = kPlanesModels + kSizes * kNeighbourContexts;
constexpr int kChangedModels = kWideCrossComponentModels + kSizes;
constexpr int kFinerModel = kChangedModels + 2;
constexpr int kFurtherModels = kFinerModel + 1;
constexpr int kFurthers = 8;  // models of the size of a step change difference
constexpr int kSkipModels = kFurtherModels + kFurthers;
constexpr int kHeldBitModels = kSkipModels + kAreas * kFamilies;

MMP_HD constexpr int split_model(int a, int b, int context) {
    return kSplitModels + shape_number(a, b) * kNeighbourContexts + context;
}
MMP_HD constexpr int direction_model(int a, int b, int context) {
    return kDirectionModels + shape_number(a, b) * kNeighbourContexts + context;
}
// Context model of the flag "three parts" (two otherwise); `rows` is 0 for a split into columns.
MMP_HD constexpr int ternary_model(int a, int b, int rows) {
    return kTernaryModels + 2 * shape_number(a, b) + rows;
}
// Context model of the flag "likely mode". `which` is 0 for the left mode if the left and the upper
// mode differ, 1 for the left mode if they are equal, 2 for the upper mode after a 0 in model 0.
MMP_HD constexpr int likely_model(int size, int which) { return kLikelyModels + size * 3 + which; }
// Context models of the flags "mode from earlier planes" and "wide mode".
MMP_HD constexpr int planes_model(int size, int context) {
    return kPlanesModels + size * kNeighbourContexts + context;
}
MMP_HD constexpr int wide_cross_component_model(int size) { return kWideCrossComponentModels + size; }
MMP_HD constexpr int kind_model(int a, int b, int context) {
    return kKindModels + size_of(a, b) * kNeighbourContexts + context;
}
MMP_HD constexpr int tree_model(int a, int b, int context) {
    return kTreeModels + size_of(a, b) * kNeighbourContexts + context;
}
MMP_HD constexpr int area_class(int a, int b) {
    const int log2 = a + b;
    return log2 <= 4 ? 0 : log2 <= 6 ? 1 : log2 <= 8 ? 2 : 3;
}
MMP_HD constexpr int type_model(int a, int b, int family) {
    return kTypeModels + area_class(a, b) * kFamilies + family;
}
// Context model of the flag "trained transform".
MMP_HD constexpr int trained_type_model(int a, int b, int family) {
    return type_model(a, b, family) - kTypeModels + kTrainedTypeModels;
}
// Context model of the flag "no transform".
MMP_HD constexpr int skip_model(int a, int b, int family) {
    return type_model(a, b, family) - kTypeModels + kSkipModels;
}
// The highest group that the scan position of the last coefficient can have. Group 0 is position 0,
// group 1 is positions 1 to 2, group 2 is positions 3 to 6, and so on.
MMP_HD constexpr int last_groups(int a, int b) {
    return smaller(a, kCodedSideLog2) + smaller(b, kCodedSideLog2);
}
MMP_HD constexpr int last_bit_model(int group) { return kLastBitModels + group; }
MMP_HD constexpr int last_model(int a, int b, int group) {
    return kLastModels + size_of(a, b) * kLastGroups + group;
}
MMP_HD constexpr int frequency_class(int i, int j) {
    const int sum = i + j;
    return sum == 0 ? 0 : sum < 3 ? 1 : sum < 6 ? 2 : 3;
}
MMP_HD constexpr int zero_model(int area, int place, int sum) {
    return kZeroModels + (area * kPlaces + place) * kSums + smaller(sum, kSums - 1);
}
MMP_HD constexpr int large_context(int area, int place, int sum) {
    return ((area >= 2) * 3 + smaller(place, 2)) * kLargeSums + smaller(sum, kLargeSums - 1);
}
MMP_HD constexpr int one_model(int area, int place, int sum) {
    return kOneModels + large_context(area, place, sum);
}
MMP_HD constexpr int two_model(int area, int place, int sum) {
    return kTwoModels + large_context(area, place, sum);
}
// Maps a level model of the first quantiser to the corresponding one of `quantiser` (0 or 1).
MMP_HD constexpr int model_of_quantiser(int model, int quantiser) {
    return model + quantiser * (kSecondModels - kZeroModels);
}
// Index of the first model of the remainders.
MMP_HD constexpr int remainder_models(int area) {
    return kRemainderModels + (area >= 2) * kRemainders;
}
MMP_HD constexpr int remainder_model(int area, int group) {
    return remainder_models(area) + smaller(group, kRemainders - 1);
}

// Fine contexts: classes of the frequency, of the sum of neighbouring magnitudes and, for angles,
// of the direction of the frequency.
MMP_HD constexpr int fine_frequency(int i, int j) {
    const int sum = i + j;
    return sum < 4 ? sum : sum < 6 ? 4 : sum < 8 ? 5 : sum < 12 ? 6 : 7;
}
// The class that a fine frequency class has without fine contexts.
MMP_HD constexpr int coarse_frequency(int frequency) {
    return frequency < 1 ? 0 : frequency < 3 ? 1 : frequency < 5 ? 2 : 3;
}
MMP_HD constexpr int sum_class(int sum) { return smaller(sum, 5) + (sum > 6) + (sum > 9); }
// The direction is 0 on the diagonal and for modes other than angles. It is 1 if the frequency is
// higher along columns (i > j) and the angle comes from the left, or higher along rows and the
// angle comes from above. It is 2 otherwise.
MMP_HD constexpr int direction_of(int family, int i, int j) {
    if ((family != kAcross && family != kDown) || i == j) return 0;
    return (family == kAcross) == (i > j) ? 1 : 2;
}
MMP_HD constexpr int fine_zero_model(int quantiser, int direction, int frequency, int sum) {
    return kFineZeroModels +
           ((quantiser * kDirections + direction) * kFrequencies + frequency) * kSumClasses + sum;
}
MMP_HD constexpr int fine_one_model(int quantiser, int frequency, int sum) {
    return kFineOneModels + (quantiser * kFrequencies + frequency) * kSumClasses + sum;
}
MMP_HD constexpr int fine_two_model(int quantiser, int frequency, int sum) {
    return fine_one_model(quantiser, frequency, sum) - kFineOneModels + kFineTwoModels;
}
MMP_HD constexpr int fine_remainder_models(int frequency, int sum) {
    const int place = smaller(coarse_frequency(frequency), kRemainderPlaces - 1);
    return kFineRemainderModels + (place * kSumClasses + sum) * kRemainders;
}

}  // namespace mmp
