use super::*;
use crate::status::Status;
use std::sync::Weak;

struct Boxed {
    _alive: Arc<()>,
}
impl Owned for Boxed {}

struct Counted {
    me: Weak<Counted>,
}
impl Shared for Counted {
    fn counted(&self) -> Option<Arc<Counted>> {
        self.me.upgrade()
    }
}

/// The object of a handle that [`New::own`] gave out.
pub(crate) fn take<T: Owned>(handle: *const T) -> Box<T> {
    // SAFETY: tests pass what `New::own` wrote, once.
    unsafe { Box::from_raw(handle.cast_mut()) }
}

#[test]
fn owned_objects_live_until_they_are_given_back() {
    let alive = Arc::new(());
    let mut handle = std::ptr::null();
    New::from(&mut handle).own("object", Boxed { _alive: alive.clone() }).unwrap();
    assert_eq!(Arc::strong_count(&alive), 2);
    Handle(handle.cast_mut()).destroy();
    assert_eq!(Arc::strong_count(&alive), 1);
    Handle::<Boxed>(std::ptr::null_mut()).destroy();
}

#[test]
fn shared_objects_live_as_long_as_somebody_holds_them() {
    let mut handle = std::ptr::null();
    New::from(&mut handle).share("object", Arc::new_cyclic(|me| Counted { me: me.clone() })).unwrap();
    let held = Arc::new_cyclic(|me| Counted { me: me.clone() });
    let second = In::from(&*held).share("object").unwrap();
    assert!(Arc::ptr_eq(&held, &second));
    Handle(handle.cast_mut()).release();
    let mut lent = std::ptr::null();
    New::from(&mut lent).lend("object", &*held).unwrap();
    assert_eq!(lent, Arc::as_ptr(&second));
}

#[test]
fn nulls_are_invalid_arguments() {
    let null = |e: Failure| e.status == Status::InvalidArguments && e.message.starts_with("invalid x: got a null pointer");
    assert!(In::<i32>::from(None).get("x").is_err_and(null));
    assert!(InOut::<i32>(None).get("x").is_err_and(null));
    assert!(Out::<i32>(None).set("x", 1).is_err_and(null));
    assert!(New::<Boxed>(Out(None)).check("x").is_err_and(null));
    assert!(Array::<i32>::null().slice("x", 1).is_err_and(null));
    assert!(Text::at(std::ptr::null()).get("x").is_err_and(null));
    assert!(Data::NULL.read("x", &mut [0]).is_err_and(null));
    assert!(Data::NULL.set("x", 1).is_err_and(null));
}

#[test]
fn arrays_of_nothing_may_be_null() {
    assert_eq!(Array::<i32>::null().slice("x", 0), Ok(&[][..]));
    assert_eq!(Array::of(&[1, 2, 3]).slice("x", 2), Ok(&[1, 2][..]));
}

#[test]
fn values_go_to_their_places() {
    let (mut number, mut bytes, mut numbers) = (0i32, [0u8; 4], [0i64; 3]);
    Out::from(&mut number).set("x", 7).unwrap();
    Data::of(&mut number).read("x", &mut bytes).unwrap();
    assert_eq!(bytes, 7i32.to_ne_bytes());
    ArrayMut::of(&mut numbers).fill("x", &[1, 2]).unwrap();
    Data::of(&mut numbers[2]).set("x", 9i64).unwrap();
    assert_eq!(numbers, [1, 2, 9]);
    assert_eq!(Text::at(c"abc".as_ptr()).get("x"), Ok("abc"));
    assert!(Text::at(c"\xff".as_ptr()).get("x").is_err());
}
