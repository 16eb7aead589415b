// Something to convert for scripts/check-instructions: templates, inlined calls, scopes. It is compiled, never run.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace workload {

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
    std::string name;
};

template <int Sides> struct Polygon : Shape {
    std::vector<double> lengths = std::vector<double>(Sides);
    double area() const override {
        double sum = 0;
        for (double length : lengths) sum += length * Sides;
        return sum;
    }
};

template <typename Key> struct Registry {
    std::map<Key, std::shared_ptr<Shape>> by_key;
    std::unordered_map<std::string, Key> by_name;
    void add(Key key, std::shared_ptr<Shape> shape) {
        by_name[shape->name] = key;
        by_key.emplace(std::move(key), std::move(shape));
    }
    std::vector<Key> sorted() const {
        std::vector<Key> keys;
        for (const auto &entry : by_key) keys.push_back(entry.first);
        std::sort(keys.begin(), keys.end(), [this](const Key &a, const Key &b) {
            return by_key.at(a)->area() < by_key.at(b)->area();
        });
        return keys;
    }
};

template struct Registry<int>;
template struct Registry<long>;
template struct Registry<std::string>;
template struct Polygon<3>;
template struct Polygon<4>;
template struct Polygon<8>;

std::set<std::string> names(const Registry<std::string> &registry) {
    std::set<std::string> found;
    for (const auto &key : registry.sorted()) found.insert(key + registry.by_key.at(key)->name);
    return found;
}

}  // namespace workload
