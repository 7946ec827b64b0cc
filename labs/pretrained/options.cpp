#include "labs/pretrained/sections.h"

namespace labgrad::labs::pretrained {

void add_options(Options& o) {
  o.add_string("weights", "FILE",
               "published weights of MobileNetV2 (else mobilenet_v2/ in the data folder)");
  o.add_choice("padding", {"file", "tensorflow", "torchvision"},
               "how MobileNetV2 pads; file: as its weights say", "file");
  o.add_choice("network", {"both", "published", "small"},
               "which networks to look at; both: the published one if its weights are there",
               "both");
  o.add_string("small", "FILE", "weights of the small network (else those in labs/pretrained)");
  o.group("Classifying a photograph");
  o.add_string("classify", "FILE",
               "the five likeliest classes of a picture in PPM or PGM, and do no more");
  o.add_string("labels", "FILE",
               "names of the 1000 classes, one a line (else those in labs/pretrained)");
  o.group("Training the small network");
  o.add_string("train-small", "FILE", "train it on MNIST, write its weights, and do no more");
}

}  // namespace labgrad::labs::pretrained
