//! Constants of the narrow phase, which decide which features of two shapes meet. They are not settings: they choose
//! between answers that are equally correct, and as constants they are folded into the hot loops. `docs/numbers.md`
//! lists them.

/// By how much an edge-edge axis must be better than a face axis, as a fraction of the overlap. Faces are preferred
/// because they give four points where edges give one, and in deep overlaps both are within a few percent.
pub const FACE_PREFERENCE: f32 = 0.05;
/// The same as a fraction of the smaller shape's width, which decides when the overlap is zero.
pub const FACE_SKIN: f32 = 0.01;
/// By how much a later face must be better than an earlier one, as a fraction of the size: above rounding, below what
/// is visible. Without it a box that lies flat changes its reference face from step to step.
pub const FACE_TIE: f32 = 1e-4;
/// Fraction of an edge, next to its end, in which a point gets the corner's name, so that its feature does not flicker.
pub const CORNER: f32 = 0.02;
/// Cosine above which a capsule counts as lying on a face, about 8 degrees: it then gets a point at both ends and does
/// not rock.
pub const ON_FACE: f32 = 0.99;
/// Smallest fraction of a capsule's axis that must lie over a face to make two points.
pub const SHORTEST_REST: f32 = 0.025;
/// Distance below which two points of a manifold count as one, as a fraction of the size.
pub const SAME_POINT: f32 = 1e-2;
/// Smallest area of a manifold's first three points, as a fraction of the square of their longest side.
pub const THINNEST: f32 = 0.01;
/// Smallest area that a fourth point must add, as a fraction of the area so far.
pub const LEAST_GAIN: f32 = 0.02;
/// Difference of heights that counts as equal in the search for the deepest point, as a fraction of the margin: the
/// first such point is kept.
pub const SAME_HEIGHT: f32 = 0.05;
/// Overlap at the end of a step that does not count as a collision, as a fraction of the smaller shape's reach: sliding
/// over a seam or past an edge causes at most that much. Twenty times the overlap that is left alone at rest.
pub const GRAZE: f32 = 0.01;
/// The same as a fraction of the thinner shape's half width, so that thin plates still meet side on.
pub const GRAZE_THIN: f32 = 0.25;
/// Motion in a step up to which bodies count as still for that, as a fraction of the smaller shape's reach.
pub const STILL: f32 = 1e-3;
/// Width below which the area that two faces share counts as an edge grazing another, as a fraction of the overlap that
/// may graze.
pub const STRIP: f32 = 0.2;
/// Cosine above which the end of a cylinder, or the base of a cone, counts as facing a face. With more tilt, 18
/// degrees, it touches with its rim, and cannot come to rest on the end within a step.
pub const FACING: f32 = 0.95;
/// Sine of the tilt up to which an end counts as lying flat, 0.3 degrees: the error of points fixed to the body is then
/// at most a third of it, in radii.
pub const FLAT: f32 = 0.005;
/// How far points of one rim may lie beyond another, as a fraction of the smaller radius: in a stack of coins, whose
/// rims coincide except for that, all points then come from one of the two.
pub const RIM_SLACK: f32 = 0.02;
/// Cosine above which a direction counts as the normal of a face over which the deepest point lies, about 2.5 degrees:
/// more than a stack leans.
pub const PARALLEL: f32 = 0.999;
/// By how much shapes are made thinner to find the direction in which they overlap, as a fraction of the thinner one's
/// half width. Applies to both together: overlaps up to that are found from any side.
pub const INSET: f32 = 0.5;
/// Distance that shapes are moved apart to for the search of nearest points, as a fraction of the thinner one's half
/// width. With a smaller distance the direction settles faster, but has fewer digits.
pub const APART: f32 = 0.05;
/// One minus the cosine between the directions of two rounds below which the direction has settled, about half a
/// degree. The remaining error is a tenth of that or less, see the head of `curved`.
pub const CLOSE_ENOUGH: f32 = 5e-5;
/// Square of the sine up to which two lines count as parallel, as for capsules.
pub const ALONG: f32 = 1e-4;
