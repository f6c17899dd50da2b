# Installs the headers of the public surface, and those that they include: the line as functions, the classes of the requirement documents, and
# what brings models and samples, and runs a data set in threads. The rest of core/ is nobody's business but ours.

cmake_minimum_required(VERSION 3.25)
set(todo
  core/job/tersor.h core/job/given_settings.h core/job/json_settings.h core/report/report_of.h core/trial/trial.h core/trial/take_samples.h core/trial/trial_runner.h core/trial/try_preprocessings.h core/rounds/gathering.h
  core/base/json.h
  core/onnx/read.h core/onnx/write.h core/onnx/convert_opset.h
  core/samples/data_set.h core/samples/given_arrays.h core/samples/labels.h core/samples/sample_digest.h core/samples/selection.h
  core/samples/zip_source.h
  core/quant/quantizers/quantizers.h core/quant/calibrators.h core/quant/corrections.h core/quant/error_functions.h
  core/tpc/builtin.h core/tpc/read.h core/tpc/read_mct.h
  core/framework/framework_info.h core/framework/operations_to_layers.h core/framework/overrides.h core/framework/platform_layers.h
  core/framework/batch_range.h core/framework/chosen_layers.h core/framework/document_layers.h core/framework/quantize_config.h
  core/evaluate/evaluation.h core/evaluate/output_difference.h core/evaluate/similarity.h
  core/simulate/program.h
  core/tflite/integer_model.h core/tflite/read_model.h
  core/native/calibrate_data.h core/native/folder_source.h core/native/gather.h core/native/gather_fastest.h core/native/gather_within.h core/native/join_statistics.h core/native/make_report.h core/native/drive.h core/native/budget_curve.h
  core/native/stage_count.h core/native/evaluate_samples.h core/native/own_figures.h core/native/compare_samples.h core/native/make_variants.h core/variants/variants.h core/report/model_card.h core/report/check.h
  core/samples/fixed_batch.h core/samples/graph_preset.h core/framework/effective.h core/report/saturation_remark.h
  core/mixed/choose_bits.h core/config/mixed_precision_config.h core/config/resource_utilization.h
  core/trainable/annealing.h core/trainable/fake_quantization.h core/trainable/layer_weights.h
  core/trainable/quantizers/quantizers.h core/trainable/quantization_wrapper.h core/trainable/trainable_quantizers.h)
set(done "")
while(todo)
  list(POP_FRONT todo header)
  if(header IN_LIST done)
    continue()
  endif()
  list(APPEND done "${header}")
  get_filename_component(folder "${header}" DIRECTORY)
  file(INSTALL "${TERSOR_HEADERS}/${header}" DESTINATION "${CMAKE_INSTALL_PREFIX}/include/tersor/${folder}" MESSAGE_NEVER)
  file(STRINGS "${TERSOR_HEADERS}/${header}" lines REGEX "^#include \"core/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
    list(APPEND todo "${included}")
  endforeach()
endwhile()

# Headers that moved into rooms of other names, at their old places for one version (see cmake/library.cmake).
file(GLOB moved RELATIVE "${TERSOR_HEADERS}" "${TERSOR_HEADERS}/core/*.h" "${TERSOR_HEADERS}/core/ptq/*.h")
foreach(header IN LISTS moved)
  file(STRINGS "${TERSOR_HEADERS}/${header}" line REGEX "^#include \"core/")
  string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
  if(included IN_LIST done)
    get_filename_component(folder "${header}" DIRECTORY)
    file(INSTALL "${TERSOR_HEADERS}/${header}" DESTINATION "${CMAKE_INSTALL_PREFIX}/include/tersor/${folder}" MESSAGE_NEVER)
  endif()
endforeach()
