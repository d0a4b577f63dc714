//! Numbers of the narrow phase: which features of two shapes meet. They are constants, not settings: they decide
//! between answers that are right alike, and the hot loops have them folded in. `docs/numbers.md` lists them.

/// How much better than a face an axis between two edges must be, as a part of the overlap: a face gives four points
/// where edges give one, and in deep overlaps both are within a few percent.
pub const FACE_PREFERENCE: f32 = 0.05;
/// The same as a part of the smaller shape's width, which keeps the choice when the overlap is nothing.
pub const FACE_SKIN: f32 = 0.01;
/// What an earlier face is preferred by to a later one, as a part of the size: above rounding, below what anyone sees.
/// Without it a box that lies flat changes its reference face from step to step.
pub const FACE_TIE: f32 = 1e-4;
/// Part of an edge next to its end in which a point has the corner's name, so that its feature does not flicker.
pub const CORNER: f32 = 0.02;
/// Cosine from which on a capsule lies on a face, about 8 degrees: it then gets a point at both ends and does not rock.
pub const ON_FACE: f32 = 0.99;
/// Least part of a capsule's axis over a face with which that makes two points.
pub const SHORTEST_REST: f32 = 0.025;
/// Distance below which points of a manifold are one, as a part of the size.
pub const SAME_POINT: f32 = 1e-2;
/// Least area of a manifold's first three points, as a part of the square of their longest side.
pub const THINNEST: f32 = 0.01;
/// Least area that a fourth point must add, as a part of what there is.
pub const LEAST_GAIN: f32 = 0.02;
/// Heights that count as equal when the deepest point is looked for, as a part of the margin: the first of them stays.
pub const SAME_HEIGHT: f32 = 0.05;
/// Overlap at the end of a step that does not count as being in the way, as a part of the smaller shape's reach: what
/// slides over a seam or past an edge is that deep in it at most. Twenty times what is left alone at rest.
pub const GRAZE: f32 = 0.01;
/// The same as a part of the thinner shape's half width: thin plates must meet side on.
pub const GRAZE_THIN: f32 = 0.25;
/// Way of a step up to which bodies count as still for that, as a part of the smaller shape's reach.
pub const STILL: f32 = 1e-3;
/// Width below which what two faces share is an edge that grazes another, as a part of the overlap that may graze.
pub const STRIP: f32 = 0.2;
/// Cosine from which on the end of a cylinder, or the base of a cone, looks at a face: one that is tilted more, 18
/// degrees, touches with its rim, and comes to rest on nothing within a step.
pub const FACING: f32 = 0.95;
/// Sine of the tilt up to which an end lies flat, 0.3 degrees: points fixed to the body then leave out no more than a
/// third of it, in radii.
pub const FLAT: f32 = 0.005;
/// How far points of one rim may lie beyond another, as a part of the smaller radius: in a stack of coins, whose rims
/// lie over each other but for that, all points are those of one of the two.
pub const RIM_SLACK: f32 = 0.02;
/// Cosine from which on a direction is that of a face over which the deepest point lies, about 2.5 degrees: more than a
/// stack leans.
pub const PARALLEL: f32 = 0.999;
/// What shapes are made thinner by to find the direction in which they overlap, as a part of the thinner one's half
/// width. Both together: overlaps up to that are found from any side.
pub const INSET: f32 = 0.5;
/// Distance that shapes are moved apart to when nearest points are looked for, as a part of the thinner one's half
/// width: the smaller, the faster the direction settles, and the fewer digits it has.
pub const APART: f32 = 0.05;
/// One minus the cosine between two rounds from which on a direction has settled, about half a degree: what is left of
/// it is a tenth of that or less, see the head of `curved`.
pub const CLOSE_ENOUGH: f32 = 5e-5;
/// Square of the sine up to which two lines lie along each other, as for capsules.
pub const ALONG: f32 = 1e-4;
