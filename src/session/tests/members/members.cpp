// Virtual functions and pointers to members: see members.rs. Everything is known when it is compiled, so that the file's
// data are what a captured wave would have in memory.
struct Shape {
    constexpr Shape(int id) : id(id) {}
    virtual int area() const;
    virtual int sides() const;
    int plain() const;
    int id;
};
struct Circle : Shape {
    constexpr Circle() : Shape(3), radius(7) {}
    int area() const override;
    int radius;
};
struct Tag {
    constexpr Tag() : mark(5) {}
    virtual int tag(int);
    virtual int twice(int);
    virtual int twice(float);
    int mark;
};
struct Both : Circle, Tag {
    constexpr Both() : z{1, 2} {}
    int tag(int) override;
    int z[2];
};
int Shape::area() const { return 0; }
int Shape::sides() const { return 0; }
int Shape::plain() const { return id; }
int Circle::area() const { return radius; }
int Tag::tag(int) { return mark; }
int Tag::twice(int) { return 2; }
int Tag::twice(float) { return 2; }
int Both::tag(int) { return z[0]; }
struct Other { int x; };
template <int N> struct Level : Level<N - 1> { int own = N; };
template <> struct Level<0> { int first = 8; };

Circle circle;
Both both;
Other other = {9};
const Shape *shape = &circle;
Tag *tag = &both;
Shape *nobody = nullptr;
alignas(Shape) char raw[sizeof(Circle)] = {};
int Shape::*id = &Shape::id;
int Circle::*radius = &Circle::radius;
int Both::*mark = &Tag::mark;
int (Both::*z)[2] = &Both::z;
int Both::*inherited = &Both::id;
Level<40> levels;
int Level<0>::*first = &Level<0>::first;
int Level<40>::*far = &Level<0>::first;
int Circle::*none = nullptr;
int (Shape::*area)() const = &Shape::area;
int (Shape::*sides)() const = &Shape::sides;
int (Shape::*plain)() const = &Shape::plain;
int (Both::*tagged)(int) = static_cast<int (Both::*)(int)>(&Tag::tag);
int (Shape::*nowhere)() const = nullptr;
extern "C" void f() {}
int main_(int n) { return n; }
